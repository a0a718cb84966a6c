"""Causes: each is told by a run that shows it, and not by one that nearly does."""

from __future__ import annotations

import pytest

from instride.explain.causes import CATALOGUE, CAUSES
from instride.explain.causes.contract import Rung
from instride.explain.findings import findings
from instride.explain.ledger import build
from instride.explain.spans import Owner
from instride.steps.model import EventKind, Pauses
from tests.unit.explain.making import found, jitter
from tests.unit.explain.pausing import (
    Story,
    after_evals,
    epochs,
    first_eval,
    off_the_clock,
    saves,
    sized_saves,
)
from tests.unit.explain.running import (
    BORDERS,
    IRREGULAR,
    at_steps,
    crashes,
    never_again,
    resumed,
    steps,
)
from tests.unit.explain.stories import FINDINGS

SAVE = EventKind.SAVE


def staircase(step: int) -> float:
    """Sequences that get longer in three stages."""
    return 1.0 + 0.4 * (step // 400)


NEARLY: dict[str, list[Story]] = {
    "first-eval": [first_eval(5.0), first_eval(20.0, times=3), first_eval(300.0)],
    "cleanup": [lambda: saves(4.0, 4.0)],
    "slow-filesystem": [sized_saves(2.5), sized_saves(0.2, is_stated=False)],
    "growing-saves": [
        lambda: saves(4.0, 10.0, 4.0, 10.0),
        lambda: saves(4.0, 4.1, 4.2, 4.3),
        lambda: saves(4.0, 5.0, 8.0),
    ],
    "recompilation": [
        after_evals(3),
        after_evals(0, 3),
        after_evals(0, times=3),
        after_evals(0, longer_s=0.7),
        steps((300, at_steps({150}, 14.0))),
    ],
    "epoch-stalls": [epochs(first_s=1.0), epochs(times=2), epochs(length=2, times=40)],
    "worker-turns": [
        steps((800, lambda step: 3.0 if step % 50 == 0 else 1.0)),
        steps((64, lambda step: 3.0 if step % 8 == 0 else 1.0)),
        steps((800, lambda step: 1.2 if step % 8 == 0 else 1.0)),
    ],
    "shard-switches": [
        steps((1000, at_steps(set(range(95, 1000, 95)), 3.0))),
        steps((1000, at_steps(IRREGULAR, 3.0))),
        steps((330, at_steps(BORDERS, 3.0))),
    ],
    "crash-loop": [crashes(2), never_again(2), resumed(1.0)],
    "collector-pauses": [
        steps((800, at_steps(IRREGULAR, 6.0, 0.4))),
        steps((200, at_steps(IRREGULAR, 0.6, 0.4))),
        steps((800, at_steps(set(range(80, 800, 80)), 0.6, 0.4))),
    ],
    "drift": [
        steps((600, 1.0), (600, 1.5)),
        steps((1600, staircase)),
        steps((1200, lambda step: 1.0 + 0.1 * step / 1200)),
        steps((1200, lambda step: 2.0 - step / 1200)),
        steps((1200, jitter(1.0, 0.05))),
    ],
    "slower-since-resume": [resumed(1.05), resumed(1.5, resumed_after=0)],
    "hidden-time": [off_the_clock(seconds=0.01), off_the_clock(SAVE, pauses=Pauses.SAME)],
}
"""Runs that must not be taken for a cause, by its id."""


@pytest.mark.parametrize(
    ("name", "story"),
    [
        pytest.param(name, story, id=f"{name} {number}")
        for name, stories in NEARLY.items()
        for number, story in enumerate(stories, 1)
    ],
)
def test_what_nearly_is_a_cause_is_not_taken_for_it(name: str, story: Story) -> None:
    assert name not in found(story())


def test_every_cause_has_a_story_and_every_story_a_cause() -> None:
    assert set(CAUSES) == set(FINDINGS)
    assert len(CATALOGUE) == len(CAUSES)
    assert set(NEARLY) <= set(CAUSES)


@pytest.mark.parametrize("cause", CATALOGUE, ids=lambda cause: cause.id)
def test_every_cause_says_how_it_is_told_and_what_helps(cause: object) -> None:
    known = next(each for each in CATALOGUE if each is cause)
    assert known.told_by.endswith(".")
    assert known.remedies
    assert known.owners


@pytest.mark.parametrize("name", sorted(FINDINGS))
def test_findings_belong_to_the_owners_of_their_cause(name: str) -> None:
    for story in FINDINGS[name]:
        ledger = build(story())
        for finding in findings(ledger):
            assert finding.owner in CAUSES[finding.id].owners
            assert all(span in ledger.spans for span in finding.spans)


@pytest.mark.parametrize("name", sorted(FINDINGS))
def test_a_span_is_told_once(name: str) -> None:
    for story in FINDINGS[name]:
        told = [id(span) for finding in findings(build(story())) for span in finding.spans]
        assert len(told) == len(set(told))


@pytest.mark.parametrize("name", sorted(FINDINGS))
def test_findings_that_are_not_part_of_others_cost_no_more_than_their_owners_have(
    name: str,
) -> None:
    for story in FINDINGS[name]:
        ledger = build(story())
        for owner in set(Owner) - {Owner.COMPUTE}:
            own = [each for each in findings(ledger) if each.owner is owner and not each.within]
            total = sum(finding.cost_s for finding in own)
            assert total <= ledger.accounts[owner].seconds * (1 + 1e-9)


@pytest.mark.parametrize(
    "name", ["recompilation", "shard-switches", "collector-pauses", "drift", "first-eval"]
)
def test_what_only_a_shape_tells_is_never_sure(name: str) -> None:
    for story in FINDINGS[name]:
        finding = found(story())[name]
        assert finding.confidence != "high"
        assert (finding.rung is Rung.SHAPE) == (finding.confidence == "low")
