"""Counts of three digits: what they may stand for, and the steadiest course through them."""

from __future__ import annotations

from itertools import accumulate, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from instride.steps.readers.rounded import Count, clip, rounded, steadiest


@pytest.mark.parametrize(
    ("digits", "scale", "low", "high"),
    [
        ("7.00", "", 7, 7),
        ("997", "", 997, 997),
        ("1.00", "k", 999.5, 1005),
        ("1.01", "k", 1005, 1015),
        ("10.0", "k", 9995, 10050),
        ("10.1", "k", 10050, 10150),
        ("150", "k", 149500, 150500),
        ("1.25", "M", 1245000, 1255000),
    ],
)
def test_a_count_stands_for_all_that_is_printed_so(
    digits: str, scale: str, low: float, high: float
) -> None:
    assert rounded(digits, scale) == pytest.approx(
        (float(digits) * {"": 1, "k": 1e3}.get(scale, 1e6), low, high)
    )


@pytest.mark.parametrize(
    ("digits", "scale"), [("", ""), ("1.2.3", "k"), ("-", ""), ("9" * 40, ""), ("1.0", "Q")]
)
def test_what_is_no_count_is_refused(digits: str, scale: str) -> None:
    assert rounded(digits, scale) is None


def test_a_count_bounds_those_before_and_after_it() -> None:
    gates = clip([Count(4000, 3995, 4005), Count(4000, 4000, 4000), Count(4000, 3995, 4005)])
    assert [gate[1:] for gate in gates] == [(3995, 4000), (4000, 4000), (4000, 4005)]


def test_even_steps_are_found_between_rounded_counts() -> None:
    times = [10.5 * n for n in range(200)]
    true = [1000 + 7 * n for n in range(200)]
    course = steadiest(times, clip([printed(n) for n in true]))
    assert course == pytest.approx(true, abs=5)
    paces = [(b - a) / 10.5 for a, b in pairwise(course[5:-5])]
    assert paces == pytest.approx([7 / 10.5] * len(paces), rel=0.02)


def test_a_slow_stretch_bends_the_course_as_far_as_the_counts_prove_it() -> None:
    paces = [7] * 50 + [1] * 10 + [7] * 50
    true = list(accumulate(paces, initial=2000))
    course = steadiest([10.0 * n for n in range(len(true))], clip([printed(n) for n in true]))
    assert course[50] == pytest.approx(true[50], abs=5)
    assert 5 <= course[60] - course[50] <= 20


def test_nothing_and_a_single_count_have_a_course() -> None:
    assert steadiest([], []) == []
    assert steadiest([5.0], [Count(3, 3, 3)]) == [3]


def test_counts_at_one_moment_do_not_divide_by_zero() -> None:
    assert steadiest([1.0, 1.0, 2.0], [Count(n, n, n) for n in (1, 2, 4)]) == [1, 2, 4]


@given(st.lists(st.tuples(st.integers(1, 60), st.floats(0, 100)), min_size=1, max_size=80))
def test_the_course_goes_through_every_gate_and_never_back(
    moves: list[tuple[int, float]],
) -> None:
    true = list(accumulate((gain for gain, _ in moves), initial=950))
    times = list(accumulate((elapsed for _, elapsed in moves), initial=0.0))
    gates = clip([printed(n) for n in true])
    course = steadiest(times, gates)
    assert len(course) == len(gates)
    for count, gate in zip(course, gates, strict=True):
        assert gate.low - 1e-3 <= count <= gate.high + 1e-3
    assert all(after >= before - 1e-3 for before, after in pairwise(course))


def printed(n: int) -> Count:
    """As tqdm prints a count below 100000."""
    for limit, scale, digits in ((999.5, 1, 0), (9995, 1e3, 2), (99950, 1e3, 1)):
        if n < limit:
            found = rounded(f"{n / scale:.{digits}f}", "k" if scale > 1 else "")
            assert found is not None
            return found
    raise AssertionError(n)
