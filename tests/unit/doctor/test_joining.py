"""Several places of one rule are one finding."""

from __future__ import annotations

from instride.doctor.joining import MOST_DOUBTFUL, few_doubtful, joined
from instride.doctor.model import Certainty, Finding, Place, Reading

SURE, LIKELY, PERHAPS = Certainty.SURE, Certainty.LIKELY, Certainty.PERHAPS


def found(rule: str, path: str, certainty: Certainty = SURE, cost: float | None = None) -> Finding:
    place = Place(path, 1, "")
    return Finding(rule, {"path": path}, (place,), certainty, cost_s_per_hour=cost)


def paths(finding: Finding) -> list[str]:
    return [each.path for each in finding.evidence if isinstance(each, Place)]


def test_places_of_one_rule_are_joined_in_their_order() -> None:
    (one,) = joined([found("save-in-place", name) for name in ("b.py", "a.py", "b.py")])
    assert paths(one) == ["b.py", "a.py"]
    assert one.facts == {"path": "b.py"}


def test_the_largest_cost_of_the_places_is_that_of_the_finding() -> None:
    costs = (None, 30.0, 20.0)
    (one,) = joined([found("saves-too-often", "x", cost=cost) for cost in costs])
    assert one.cost_s_per_hour == 30.0


def test_findings_of_the_machine_stay_apart() -> None:
    disks = [
        Finding("little-space", {"path": name}, (Reading(name, "1 GB"),)) for name in ("a", "b")
    ]
    assert joined(disks) == disks


def test_what_is_likely_is_not_told_as_if_it_were_sure() -> None:
    both = [found("two-cleaners", "a.py", LIKELY), found("two-cleaners", "b.py")]
    assert [(each.certainty, paths(each)) for each in joined(both)] == [
        (LIKELY, ["a.py"]),
        (SURE, ["b.py"]),
    ]


def test_what_is_perhaps_so_is_left_out_beside_what_is_so() -> None:
    both = [found("two-cleaners", "a.py", PERHAPS), found("two-cleaners", "b.py", LIKELY)]
    assert [paths(each) for each in joined(both)] == [["b.py"]]


def test_only_the_worst_of_the_doubtful_are_kept() -> None:
    rules = ["unused-key", "two-cleaners", "module-pickled", "save-in-place"]
    kept = few_doubtful([found(rule, "a.py", PERHAPS) for rule in rules])
    assert len(kept) == MOST_DOUBTFUL
    assert {each.rule for each in kept} == {"two-cleaners", "save-in-place"}


def test_firm_findings_are_all_kept() -> None:
    firm = [found(rule, "a.py") for rule in ("unused-key", "two-cleaners", "save-in-place")]
    assert few_doubtful(firm) == firm
