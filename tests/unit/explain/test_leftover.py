"""What is left of slow records reads like a dictionary, whatever the order."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from instride.explain.leftover import Leftover

RECORDS = st.integers(0, 30)
CHANGES = st.lists(st.tuples(RECORDS, st.one_of(st.none(), st.floats(0, 1e9))), max_size=60)


@given(changes=CHANGES, asked=st.lists(RECORDS, max_size=20))
def test_it_holds_what_a_dictionary_holds(
    changes: list[tuple[int, float | None]], asked: list[int]
) -> None:
    left, expected = Leftover(), dict[int, float]()
    for record, seconds in changes:
        if seconds is None:
            assert left.pop(record, None) == expected.pop(record, None)
        else:
            left[record] = expected[record] = seconds
    assert left == expected
    assert list(left) == sorted(expected)
    assert len(left) == len(expected)
    assert [left.get(record) for record in asked] == [expected.get(record) for record in asked]


def test_records_that_are_not_there_are_said_to_be_missing() -> None:
    left = Leftover()
    left[3] = 0.5
    for record in (2, 3, 4):
        left.pop(record, None)
        with pytest.raises(KeyError):
            left[record]
        with pytest.raises(KeyError):
            del left[record]
