"""Which checkpoints of a script may go: a rule, checked against everything that could be there."""

from __future__ import annotations

from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from instride.agent.pruning import Saved, doomed

SERIES = ("step_#.pt", "epoch_#.pt")
SAVED = st.lists(
    st.tuples(st.sampled_from(SERIES), st.integers(1, 50), st.booleans()), unique_by=lambda e: e[1]
)


def saved(series: str, serial: int) -> Saved:
    name = series.replace("#", str(serial))
    return Saved(name, series, serial, Path(name), (), 1)


@given(SAVED, st.integers(1, 5))
def test_the_newest_and_the_last_good_one_always_stay(
    drawn: list[tuple[str, int, bool]], keep: int
) -> None:
    good = {serial for _, serial, is_good in drawn if is_good}
    every = [saved(series, serial) for series, serial, _ in drawn]
    going, held = doomed(every, keep, lambda each: each.serial in good)
    for series in SERIES:
        members = sorted(each.serial for each in every if each.series == series)
        gone = {each.serial for each in going if each.series == series}
        newest = set(members[-keep:])
        assert gone in (set(), set(members) - newest)
        assert not gone or newest & good
        assert (series in held) == (len(members) > keep and not newest & good)


@given(SAVED, st.integers(1, 5))
def test_no_more_than_needed_is_read_to_find_a_good_one(
    drawn: list[tuple[str, int, bool]], keep: int
) -> None:
    asked: list[int] = []

    def is_good(each: Saved) -> bool:
        asked.append(each.serial)
        return True

    every = [saved(series, serial) for series, serial, _ in drawn]
    doomed(every, keep, is_good)
    assert len(asked) <= len(SERIES)
    for serial in asked:
        (series,) = [each.series for each in every if each.serial == serial]
        assert serial == max(each.serial for each in every if each.series == series)
