"""Two runs side by side: what is cheaper, dearer, gone and new, and what cannot be compared."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instride.explain.comparing import compare
from instride.explain.explaining import explain
from instride.explain.languages import LANGUAGES
from instride.explain.pace import PER_STEP
from instride.explain.spans import Owner
from instride.steps.model import EventKind, Run
from instride.steps.source import Source
from tests.unit.explain.making import Training
from tests.unit.explain.pairs import EVAL, SAVE, Compare, caveats_of, change_of, made, owner, plain
from tests.unit.explain.pausing import Story
from tests.unit.explain.stories import FINDINGS, UNKNOWNS

ENGLISH = LANGUAGES["en"]
STORIES = [
    pytest.param(story, id=f"{name} {number}")
    for name, stories in {**FINDINGS, **UNKNOWNS}.items()
    for number, story in enumerate(stories, 1)
]


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
