"""Up to where all is there, of what arrives in any order."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from instride.snapshot.arriving import InOrder, Nearest

ENDS = [7, 20, 21, 50, 90, 91]


@given(st.permutations(range(len(ENDS))))
def test_a_place_is_told_once_all_before_it_has_come(order: list[int]) -> None:
    told: list[int] = []
    in_order = InOrder(told.append)
    come: set[int] = set()
    for number in order:
        before = len(told)
        in_order.arrived(number, ENDS[number])
        come.add(number)
        whole = [end for place, end in enumerate(ENDS) if set(range(place + 1)) <= come]
        assert told[before:] == ([whole[-1]] if whole and whole[-1] not in told[:before] else [])
    assert told[-1] == ENDS[-1]


@given(st.lists(st.sampled_from([0, 1]), min_size=8, max_size=8))
def test_of_several_it_is_the_place_of_the_one_that_is_behind(turns: list[int]) -> None:
    told: list[int] = []
    nearest = Nearest(told.append, 2)
    parts = [[10, 20, 30], [40, 50, 60]]
    come = [0, 0]
    done: set[int] = set()
    for number in [*turns, 0, 0, 0, 0, 1, 1, 1, 1]:
        if parts[number]:
            come[number] = parts[number].pop(0)
            nearest.come_to(number, come[number])
        elif number not in done:
            done.add(number)
            nearest.done(number)
        behind = [place for each, place in enumerate(come) if each not in done]
        assert not behind or not told or told[-1] <= min(behind)
        assert not behind or (told[-1] if told else 0) == min(behind)
    assert all(before < after for before, after in pairwise(told))


def test_nothing_is_told_twice() -> None:
    told: list[int] = []
    nearest = Nearest(told.append, 1)
    nearest.come_to(0, 5)
    nearest.come_to(0, 5)
    nearest.done(0)
    assert told == [5]
    with pytest.raises(KeyError):
        nearest.done(0)
