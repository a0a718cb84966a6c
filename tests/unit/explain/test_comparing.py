"""Two runs side by side: what is cheaper, dearer, gone and new, and what cannot be compared."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instride.explain.compared import Comparison, FindingChange, OwnerChange
from instride.explain.comparing import compare
from instride.explain.comparison_report import comparison_report
from instride.explain.explaining import explain
from instride.explain.languages import LANGUAGES
from instride.explain.languages.words import Words
from instride.explain.pace import PER_STEP
from instride.explain.spans import Owner
from instride.steps.model import EventKind, Pauses, Run, Sampling
from instride.steps.source import Source
from tests.unit.explain.making import Training
from tests.unit.explain.pausing import Story
from tests.unit.explain.stories import FINDINGS, UNKNOWNS

EVAL, SAVE = EventKind.EVAL, EventKind.SAVE
ENGLISH = LANGUAGES["en"]
STORIES = [
    pytest.param(story, id=f"{name} {number}")
    for name, stories in {**FINDINGS, **UNKNOWNS}.items()
    for number, story in enumerate(stories, 1)
]
Compare = Callable[[Run, Run], Comparison]


@pytest.fixture
def compared(paper: Source) -> Compare:
    return lambda before, after: compare(explain(before, [paper]), explain(after, [paper]))


@pytest.fixture(params=sorted(LANGUAGES))
def language(request: pytest.FixtureRequest) -> Words:
    return LANGUAGES[request.param]


def made(
    num_steps: int = 1000,
    step_s: float = 1.0,
    *,
    kind: EventKind = SAVE,
    every: int = 100,
    pause_s: float = 0.0,
    slow: int = 0,
    training: Training | None = None,
) -> Run:
    """Steps with a pause every so many, marked even if it costs nothing; `slow` steps after it."""
    training = training or Training()
    for step in range(num_steps):
        if pause_s and step and step % every == 0:
            training.pause(kind, pause_s)
        elif kind is SAVE and step and step % every == 0:
            training.mark(kind)
        is_slow = slow and step > every and 0 < step % every <= slow
        training.train(1, 3 * step_s if is_slow else step_s)
    return training.finish()


def plain(num_steps: int = 1000, step_s: float = 1.0, first_s: float = 0.0) -> Run:
    training = Training()
    training.train(1, first_s or step_s)
    training.train(num_steps - 1, step_s)
    return training.finish()


def owner(comparison: Comparison, which: Owner) -> OwnerChange:
    (found,) = [each for each in comparison.owners if each.owner is which]
    return found


def change_of(comparison: Comparison, name: str) -> FindingChange:
    (found,) = [each for each in comparison.findings if each.finding.id == name]
    return found


def caveats_of(comparison: Comparison) -> dict[str, dict[str, float | int | str | None]]:
    return {each.id: each.facts for each in comparison.caveats}


@pytest.mark.parametrize("story", STORIES)
def test_a_run_compared_with_itself_shows_nothing(story: Story, compared: Compare) -> None:
    comparison = compared(story(), story())
    assert not comparison.is_different
    assert comparison.won_per_1000_s == comparison.won_once_s == 0
    assert {each.change for each in comparison.findings} <= {"same"}
    assert comparison.groups == []
    assert not {"short", "hidden", "dialects", "wall", "work", "joint"} & {*caveats_of(comparison)}


@settings(max_examples=25, deadline=None)
@given(
    st.integers(30, 700),
    st.integers(20, 300),
    st.floats(0.01, 50.0),
    st.floats(0.0, 400.0),
    st.sampled_from([EVAL, SAVE]),
)
def test_any_run_compared_with_itself_shows_nothing(
    paper: Source, num_steps: int, every: int, step_s: float, pause_s: float, kind: EventKind
) -> None:
    explained = [
        explain(made(num_steps, step_s, kind=kind, every=every, pause_s=pause_s), [paper])
        for _ in range(2)
    ]
    comparison = compare(*explained)
    assert not comparison.is_different
    assert comparison.won_over_before_s == 0


def test_a_save_that_costs_nothing_any_more_is_gone(compared: Compare) -> None:
    comparison = compared(made(pause_s=20.0, slow=10), made())
    assert comparison.is_as_fast
    assert change_of(comparison, "save").change == "gone"
    assert change_of(comparison, "aftermath").change == "gone"
    assert [group.name for group in comparison.groups] == ["save+aftermath"]
    assert comparison.groups[0].after_s == 0
    saves, after_saves = (owner(comparison, each) for each in (Owner.SAVE, Owner.AFTERMATH))
    assert saves.won_per_1000_s == pytest.approx(200, rel=0.02)
    assert after_saves.won_per_1000_s == pytest.approx(200, rel=0.15)
    assert caveats_of(comparison) == {}


def test_what_was_not_there_before_is_new(compared: Compare) -> None:
    comparison = compared(plain(), made(kind=EVAL, pause_s=20.0))
    assert change_of(comparison, "eval").change == "new"
    assert comparison.won_share < -0.15
    assert comparison.won_over_before_s == pytest.approx(-200, rel=0.02)


@pytest.mark.parametrize(
    ("before_s", "after_s", "change"),
    [(20.0, 8.0, "cheaper"), (8.0, 20.0, "dearer"), (20.0, 20.5, "same")],
)
def test_a_pause_that_stays_is_cheaper_dearer_or_the_same(
    before_s: float, after_s: float, change: str, compared: Compare
) -> None:
    comparison = compared(made(pause_s=before_s), made(pause_s=after_s))
    found = change_of(comparison, "save")
    assert found.change == change
    assert found.is_notable == (change != "same")
    assert comparison.is_different == (change != "same")


@pytest.mark.parametrize("num_steps", [110, 190, 301, 340, 399, 1001, 1099])
def test_where_a_log_ends_makes_no_difference(num_steps: int, compared: Compare) -> None:
    comparison = compared(made(2050, pause_s=20.0), made(num_steps, pause_s=20.0))
    assert not comparison.is_different
    assert owner(comparison, Owner.SAVE).after.per_1000_s == pytest.approx(200, rel=0.03)


def test_a_single_pause_off_the_beat_is_taken_as_it_is(compared: Compare) -> None:
    comparison = compared(made(2050, pause_s=20.0), made(190, every=150, pause_s=20.0))
    assert owner(comparison, Owner.SAVE).after.per_1000_s == pytest.approx(20 / 0.19, rel=0.03)


def test_seconds_won_are_extrapolated_to_the_run_before(compared: Compare) -> None:
    comparison = compared(made(4000, pause_s=20.0), made(500, pause_s=5.0))
    assert comparison.won_per_1000_s == pytest.approx(150, rel=0.02)
    assert comparison.won_over_before_s == pytest.approx(600, rel=0.02)
    assert comparison.won_share == pytest.approx(150 / 1200, rel=0.02)


def test_faster_steps_are_told_as_such_and_may_be_other_work(compared: Compare) -> None:
    comparison = compared(plain(step_s=1.0), plain(step_s=0.5))
    assert not comparison.is_as_fast
    assert comparison.groups == []
    assert comparison.won_share == pytest.approx(0.5)
    assert "work" in caveats_of(comparison)
    assert "work" not in caveats_of(compared(plain(step_s=1.0), plain(step_s=0.95)))


def test_small_differences_of_ordinary_steps_are_none(compared: Compare) -> None:
    assert not compared(plain(step_s=1.0), plain(step_s=1.015)).is_different
    assert compared(plain(step_s=1.0), plain(step_s=1.025)).is_different


def test_a_warm_up_does_not_grow_with_a_shorter_log(compared: Compare) -> None:
    comparison = compared(plain(4000, first_s=60.0), plain(200, first_s=60.0))
    assert not comparison.is_different
    assert comparison.won_once_s == pytest.approx(0, abs=0.01)
    assert owner(comparison, Owner.WARMUP).after.per_1000_s is None


def test_a_warm_up_that_is_gone_is_won_once(compared: Compare) -> None:
    comparison = compared(plain(500, first_s=60.0), plain(500))
    assert comparison.won_per_1000_s == pytest.approx(0, abs=0.01)
    assert comparison.won_once_s == pytest.approx(59)
    assert change_of(comparison, "warmup").change == "gone"
    assert "once" in ENGLISH.compare_answer(comparison)


def test_a_log_too_short_for_a_save_does_not_say_it_is_gone(compared: Compare) -> None:
    before, after = made(2000, every=500, pause_s=50.0, slow=40), plain(300)
    for one, other, side in ((before, after, "after"), (after, before, "before")):
        comparison = compared(one, other)
        assert not comparison.is_different
        assert {each.change for each in comparison.findings} == {"unseen"}
        assert owner(comparison, Owner.SAVE).won_per_1000_s is None
        facts = caveats_of(comparison)["short"]
        assert facts == {"owner": "save", "side": side, "steps": 300, "every": 500}
        assert len(comparison.caveats) == 1


def test_a_short_log_that_marks_a_free_save_says_it_is_gone(compared: Compare) -> None:
    after = made(300, every=250)
    comparison = compared(made(2000, every=500, pause_s=50.0), after)
    assert change_of(comparison, "save").change == "gone"
    assert "short" not in caveats_of(comparison)


def test_time_that_a_log_hides_is_not_won(compared: Compare) -> None:
    hiding = made(pause_s=20.0, training=Training(pauses=Pauses.NONE))
    comparison = compared(made(pause_s=20.0), hiding)
    assert change_of(comparison, "save").change == "unseen"
    assert comparison.won_per_1000_s == pytest.approx(0, abs=0.01)
    assert caveats_of(comparison)["hidden"] == {"owner": "save", "side": "after"}


@pytest.mark.parametrize("is_swapped", [False, True])
def test_waiting_for_data_is_not_gone_where_a_log_never_tells_it(
    compared: Compare, is_swapped: bool
) -> None:
    waiting = Training()
    waiting.train(500, 1.0, data=0.4)
    runs = [waiting.finish(), plain(500)]
    comparison = compared(*(runs[::-1] if is_swapped else runs))
    assert change_of(comparison, "data-chronic").change == "unseen"
    assert "data" not in {group.name for group in comparison.groups}
    side = "after" if is_swapped else "before"
    assert caveats_of(comparison)["data"] == {"has_data": side}
    assert comparison.won_per_1000_s == pytest.approx(0, abs=0.01)


def test_only_one_log_with_a_clock_is_said(compared: Compare) -> None:
    clocked = made(pause_s=20.0, training=Training(has_wall=True))
    assert caveats_of(compared(clocked, made(pause_s=20.0)))["wall"] == {"has_wall": "before"}


def test_different_sampling_is_said(compared: Compare) -> None:
    tenth = made(training=Training(Sampling.EVERY_KTH, every=10))
    assert caveats_of(compared(plain(), tenth))["sampling"] == {"before": 1, "after": 10}


def test_different_trainers_are_said(compared: Compare) -> None:
    titles = caveats_of(compared(plain(), foreign()))["dialects"]
    assert titles == {"before": "Made up", "after": "Foreign"}


def test_crashes_are_not_counted(compared: Compare) -> None:
    training = Training(has_wall=True)
    training.train(500)
    training.resume(400, 3600.0, has_banner=True)
    training.train(600)
    calm = Training(has_wall=True)
    calm.train(1000)
    comparison = compared(training.finish(), calm.finish())
    assert comparison.before.num_steps == 1000
    assert not comparison.is_different
    assert comparison.won_per_1000_s == pytest.approx(0, abs=1)
    assert "accidents" in caveats_of(comparison)
    assert change_of(comparison, "lost").change == "gone"


def test_pauses_that_are_not_split_are_compared_together(compared: Compare) -> None:
    training = Training()
    for _ in range(6):
        training.train(100)
        training.pause(EVAL, 8.0)
        training.pause(SAVE, 6.0)
    training.train(100)
    comparison = compared(training.finish(), made(600, pause_s=6.0))
    assert caveats_of(comparison)["joint"] == {"side": "before"}
    assert [group.name for group in comparison.groups] == ["eval+save"]


def test_a_pause_seen_once_gives_a_rough_rate(compared: Compare) -> None:
    comparison = compared(made(150, pause_s=20.0), made(150, pause_s=5.0))
    assert caveats_of(comparison)["single"]["owner"] == "save"


def test_what_changes_its_period_is_gone_and_new(compared: Compare) -> None:
    def comb(period: int) -> Run:
        training = Training()
        training.train(900, lambda step: 3.0 if step % period == 0 else 1.0)
        return training.finish()

    comparison = compared(comb(45), comb(100))
    assert sorted(each.change for each in comparison.findings) == ["gone", "new"]
    assert [each.change for each in compared(comb(45), comb(45)).findings] == ["same"]


def test_a_part_of_another_finding_is_not_told_beside_it(compared: Compare) -> None:
    growing = FINDINGS["growing-saves"][0]()
    comparison = compared(growing, plain(500))
    whole, part = (change_of(comparison, name) for name in ("save", "growing-saves"))
    assert part.change == whole.change == "gone"
    assert whole.is_notable
    assert not part.is_notable


def test_the_sums_of_the_owners_are_those_of_the_runs(compared: Compare) -> None:
    comparison = compared(made(900, pause_s=20.0, slow=10), made(1000, 1.1, kind=EVAL, pause_s=3.0))
    counted = [each for each in comparison.owners if each.owner in PER_STEP]
    for side in ("before", "after"):
        total = sum(getattr(each, side).per_1000_s for each in counted)
        assert getattr(comparison, side).per_1000_s == pytest.approx(total)
    won = [each.won_per_1000_s or 0.0 for each in counted]
    assert comparison.won_per_1000_s == pytest.approx(sum(won))


def is_said(text: str) -> bool:
    holes = ("None", "nan", "inf", "{", "}", "  ", "..", " .", " ,")
    return bool(text) and text[-1] in ".\u3002" and not any(hole in text for hole in holes)


def foreign() -> Run:
    run = plain()
    run.dialect = msgspec.structs.replace(run.dialect, name="foreign", title="Foreign")
    return run


def situations() -> list[tuple[Run, Run]]:
    """Pairs that between them make every sentence necessary."""
    runs = [
        made(600, every=200, pause_s=50.0, slow=40),
        made(600, 1.3, kind=EVAL, pause_s=9.0),
        made(150, pause_s=20.0),
        made(900, training=Training(Sampling.EVERY_KTH, every=10, has_wall=True)),
        made(pause_s=20.0, training=Training(pauses=Pauses.NONE)),
        plain(90, first_s=70.0),
        FINDINGS["restart"][1](),
        FINDINGS["data-chronic"][0](),
        FINDINGS["slow-zone"][0](),
        UNKNOWNS["joint"][0](),
        foreign(),
    ]
    return list(product(runs, runs))


def test_every_language_says_everything(language: Words, compared: Compare) -> None:
    told = set()
    for before, after in situations():
        comparison = compared(before, after)
        answer = comparison_report(comparison, language)
        told |= {each.id for each in comparison.caveats}
        assert is_said(answer.answer), answer.answer
        assert all(is_said(each) for each in answer.not_comparable), answer.not_comparable
        assert all(
            language.compare_finding(each.before_s, each.after_s, each.is_once)
            for each in comparison.findings
        )
    rough = {"joint", "single", "accidents", "work"}
    assert told == {"dialects", "sampling", "wall", "data", "hidden", "short"} | rough


def test_every_language_has_all_words(language: Words) -> None:
    assert language.compare_phrases.keys() == ENGLISH.compare_phrases.keys()
    assert language.compare_changes.keys() == {"gone", "new", "cheaper", "dearer"}
    assert language.compare_pauses.keys() == {
        each.value for each in PER_STEP if each is not Owner.COMPUTE
    }
    names = {"compute", "eval", "save", "aftermath", "save+aftermath", "data", "unknown"}
    joint = {"eval+save", "eval+save+aftermath"}
    assert language.compare_groups.keys() == names | joint
