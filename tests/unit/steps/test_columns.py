"""A column says what a list of the same numbers says, in less memory."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instride.steps.columns import CHUNK, Column

RISING = st.tuples(st.integers(0, 1 << 40), st.integers(1, 300)).map(
    lambda each: list(range(each[0], each[0] + each[1] * (CHUNK + 30), each[1]))
)
ODD = st.lists(st.integers(-(1 << 63), (1 << 63) - 1), max_size=40)
SLOW = st.integers(1, 2 * CHUNK).map(lambda size: [index // 3 for index in range(size)])
NUMBERS = st.lists(st.one_of(RISING, ODD, SLOW), max_size=3).map(
    lambda parts: [number for part in parts for number in part]
)


@settings(max_examples=30, deadline=None)
@given(numbers=NUMBERS, data=st.data())
def test_a_column_reads_like_a_list(numbers: list[int], data: st.DataObject) -> None:
    column = Column(numbers)
    assert len(column) == len(numbers)
    assert list(column) == numbers
    begin, end = (data.draw(st.integers(-len(numbers) - 2, len(numbers) + 2)) for _ in range(2))
    assert column[begin:end] == numbers[begin:end]
    assert column[begin:end:7] == numbers[begin:end:7]
    assert list(column.since(max(0, begin))) == numbers[max(0, begin) :]
    if numbers:
        index = data.draw(st.integers(-len(numbers), len(numbers) - 1))
        assert column[index] == numbers[index]
        assert (column.lowest, column.highest) == (min(numbers), max(numbers))


@settings(max_examples=30, deadline=None)
@given(numbers=NUMBERS)
def test_falls_are_where_a_number_is_not_beyond_the_one_before(numbers: list[int]) -> None:
    expected = [at for at in range(1, len(numbers)) if numbers[at] <= numbers[at - 1]]
    assert Column(numbers).falls() == expected


@settings(max_examples=20, deadline=None)
@given(numbers=NUMBERS.filter(bool), value=st.integers(-(1 << 63), (1 << 63) - 1), data=st.data())
def test_a_number_can_be_replaced(numbers: list[int], value: int, data: st.DataObject) -> None:
    column = Column(numbers)
    for _ in range(2):
        index = data.draw(st.integers(-len(numbers), len(numbers) - 1))
        column[index] = numbers[index] = value
    assert list(column) == numbers


@settings(max_examples=20, deadline=None)
@given(parts=st.lists(st.one_of(RISING, ODD, SLOW), max_size=3))
def test_it_does_not_matter_how_numbers_are_added(parts: list[list[int]]) -> None:
    column = Column()
    for part in parts:
        column.extend(part)
        for number in part[:5]:
            column.append(number)
        column.extend(number for number in part)
    assert list(column) == [each for part in parts for each in (*part, *part[:5], *part)]


@pytest.mark.parametrize("size", [0, 5, CHUNK, CHUNK + 5])
def test_there_is_nothing_beyond_the_ends(size: int) -> None:
    column = Column(range(size))
    for index in (size, -size - 1, 10 * CHUNK):
        with pytest.raises(IndexError):
            column[index]
        with pytest.raises(IndexError):
            column[index] = 1


@pytest.mark.parametrize(
    ("numbers", "most_bytes"),
    [
        (range(7, 3_000_007, 3), 0.1),
        ([index // 10 for index in range(1_000_000)], 1.4),
        ([index + index // 30 for index in range(1_000_000)], 1.4),
    ],
    ids=["every third", "ten times each", "with gaps"],
)
def test_numbers_that_rise_slowly_take_about_a_byte_or_none(
    numbers: list[int], most_bytes: float
) -> None:
    column = Column(numbers)
    chunks = {id(chunk): chunk for chunk in column._offsets}
    lists = (column._bases, column._slopes, column._offsets)
    taken = sum(sys.getsizeof(each) for each in (*chunks.values(), *lists))
    assert taken <= most_bytes * len(column)
