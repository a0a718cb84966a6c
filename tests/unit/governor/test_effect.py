"""Pairs of windows: what counts as a step of which, and how much."""

from __future__ import annotations

import math

import pytest

from instride.governor.effect import Comparison, Pair, estimate, mean
from instride.governor.model import Step, Window


def steps(start_s: float, end_s: float, step_s: float) -> list[Step]:
    count = round((end_s - start_s) / step_s)
    return [Step(start_s + step_s * (number + 1), step_s, step_s) for number in range(count)]


def compared(windows: list[Window], all_steps: list[Step]) -> list[float]:
    comparison = Comparison()
    for window in [*windows, Window(windows[-1].end_s, windows[-1].end_s + 1, "unclear")]:
        comparison.add_window(window)
    end_s = windows[-1].end_s
    comparison.add_steps([*all_steps, *steps(end_s, end_s + 2, 0.1)])
    return [pair.inflation for pair in comparison.pairs]


ONE = [Window(0, 2, "pause"), Window(2, 4, "work", 1.0), Window(4, 6, "pause")]


def test_work_is_held_against_the_pauses_on_both_sides() -> None:
    found = compared(ONE, [*steps(0, 2, 0.1), *steps(2, 4, 0.2), *steps(4, 6, 0.125)])
    assert found == [pytest.approx(0.2 / 0.1125 - 1)]


def test_a_stall_counts_as_three_steps_and_an_evaluation_as_no_more() -> None:
    """Two seconds of a window: seventeen steps and a stall, or seventeen and a minute of it."""
    stalled = [*steps(2, 3.7, 0.1), Step(4.0, 0.3, 0.3)]
    evaluated = [*steps(2, 3.7, 0.1), Step(4.0, 60.0, 0.3)]
    around = [steps(0, 2, 0.1), steps(4, 6, 0.1)]
    (stall,) = compared(ONE, [*around[0], *stalled, *around[1]])
    (evaluation,) = compared(ONE, [*around[0], *evaluated, *around[1]])
    assert stall == pytest.approx((17 * 0.1 + 0.3) / 18 / 0.1 - 1)
    assert evaluation == pytest.approx(stall)


@pytest.mark.parametrize("step_s", [0.0005, 0.002, 0.008, 0.03])
def test_fast_steps_are_all_remembered_between_two_pauses(step_s: float) -> None:
    """Where cores abound work takes more than ten seconds: tens of thousands of those."""
    comparison = Comparison()
    at_s = 0.0
    for kind, length_s, factor in (
        ("pause", 1, 1),
        ("work", 16, 2),
        ("pause", 1, 1),
        ("work", 16, 2),
    ):
        comparison.add_window(Window(at_s, at_s + length_s, kind, 1.0))  # type: ignore[arg-type]
        for second in range(length_s):
            comparison.add_steps(steps(at_s + second, at_s + second + 1, factor * step_s))
        at_s += length_s
    comparison.add_window(Window(at_s, at_s + 1, "pause"))
    comparison.add_steps(steps(at_s, at_s + 1, step_s))
    (pair,) = comparison.pairs
    assert pair.inflation == pytest.approx(1.0, abs=0.01)
    assert pair.num_steps == pytest.approx(16 / (2 * step_s) + 1 / step_s, rel=0.05)


def test_a_stall_among_fast_steps_counts_as_three_of_them_and_no_more() -> None:
    around = [steps(0, 2, 0.001), steps(4, 6, 0.001)]
    stalled = [*steps(2, 3.5, 0.001), Step(4.0, 0.5, 0.5)]
    (stall,) = compared(ONE, [*around[0], *stalled, *around[1]])
    assert stall == pytest.approx(2 / 1501, rel=0.02)


def test_what_had_begun_and_comes_to_its_end_is_in_no_pause() -> None:
    windows = [
        Window(0, 2, "pause"), Window(2, 4, "work", 1.0), Window(4, 5, "settling", 1.0),
        Window(5, 7, "pause"),
    ]  # fmt: skip
    half = Step(5.4, 0.6, 0.6)
    all_steps = [*steps(0, 2, 0.1), *steps(2, 4.8, 0.2), half, *steps(5.4, 7, 0.1)]
    assert compared(windows, all_steps) == [pytest.approx(1.0)]


def test_a_step_that_lies_half_in_the_work_is_in_no_pause() -> None:
    straddling = [*steps(0, 1.8, 0.1), Step(2.2, 0.4, 0.4), *steps(2.2, 4, 0.2), *steps(4, 6, 0.1)]
    (found,) = compared(ONE, straddling)
    assert found == pytest.approx((0.3 + 9 * 0.2) / 10 / 0.1 - 1)  # it counts for the work


@pytest.mark.parametrize("kind", ["unclear", "work"])
def test_without_a_pause_on_each_side_there_is_no_pair(kind: str) -> None:
    windows = [Window(0, 2, kind), *ONE[1:]]  # type: ignore[arg-type]
    assert compared(windows, steps(0, 6, 0.1)) == []


def test_a_gap_between_two_jobs_is_no_pause() -> None:
    windows = [Window(0, 2, "pause"), Window(3, 4, "work", 1.0), Window(4, 6, "pause")]
    assert compared(windows, steps(0, 6, 0.1)) == []


def test_steps_of_another_source_are_not_held_against_earlier_ones() -> None:
    comparison = Comparison()
    for number in range(12):
        start_s, kind = 2.0 * number, "work" if number % 2 else "pause"
        step_s = 0.1
        if number >= 5:
            step_s = 0.5
        if number == 5:
            comparison.begin_anew()
        comparison.add_window(Window(start_s, start_s + 2, kind, 1.0))  # type: ignore[arg-type]
        comparison.add_steps(steps(start_s, start_s + 2, step_s))
    assert len(comparison.pairs) == 3
    assert all(pair.inflation == pytest.approx(0.0) for pair in comparison.pairs)


def test_fewer_than_three_pairs_tell_nothing() -> None:
    pair = Pair(1.0, 1.0, 0.5, 10, 1.0)
    assert estimate([]) is None
    found = estimate([pair, pair])
    assert found is not None
    assert found.plus_minus == math.inf
    assert found.num_steps_needed(0.02) == 10


def test_one_wild_pair_moves_the_estimate_little_and_the_mean_in_full() -> None:
    pairs = [Pair(float(n), 1.0, 0.01 * (-1) ** n, 10, 1.0) for n in range(20)]
    pairs.append(Pair(20.0, 1.0, 2.1, 10, 1.0))
    trimmed, plain = estimate(pairs), mean(pairs)
    assert trimmed is not None
    assert plain is not None
    assert abs(trimmed.inflation) < 0.01
    assert plain.inflation == pytest.approx(0.1, abs=0.001)


def test_four_times_the_pairs_halve_the_interval() -> None:
    few = [Pair(float(n), 1.0, 0.1 * (-1) ** n, 10, 1.0) for n in range(40)]
    narrow, wide = estimate(few * 4), estimate(few)
    assert narrow is not None
    assert wide is not None
    assert narrow.plus_minus == pytest.approx(wide.plus_minus / 2, rel=0.1)
    assert wide.num_steps_needed(wide.plus_minus / 2) == pytest.approx(3 * 40 * 10, rel=0.01)
    assert wide.num_steps_needed(wide.plus_minus) == 0
