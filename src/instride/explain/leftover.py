"""Seconds of slow records that no owner has taken yet, in sixteen bytes for each."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, MutableMapping
from itertools import compress
from math import isnan

from instride.steps.model import MISSING


class Leftover(MutableMapping[int, float]):
    """Seconds by record. A log may have millions of slow records, which mostly come in order."""

    def __init__(self) -> None:
        self._records = array("q")
        """In ascending order."""
        self._seconds = array("d")
        """NaN where the record was deleted."""
        self._next = 0
        """Where the record is that is asked for next, if it follows the one asked for last."""

    def __getitem__(self, record: int) -> float:
        at = self._place(record)
        if at is None:
            raise KeyError(record)
        return self._seconds[at]

    def __setitem__(self, record: int, seconds: float) -> None:
        records = self._records
        if not records or record > records[-1]:
            records.append(record)
            self._seconds.append(seconds)
            return
        at = bisect_left(records, record)
        if records[at] == record:
            self._seconds[at] = seconds
        else:
            records.insert(at, record)
            self._seconds.insert(at, seconds)

    def __delitem__(self, record: int) -> None:
        at = self._place(record)
        if at is None:
            raise KeyError(record)
        self._seconds[at] = MISSING

    def __iter__(self) -> Iterator[int]:
        return compress(self._records, (not isnan(seconds) for seconds in self._seconds))

    def __len__(self) -> int:
        return sum(not isnan(seconds) for seconds in self._seconds)

    def _place(self, record: int) -> int | None:
        records, at = self._records, self._next
        if at >= len(records) or records[at] != record:
            at = bisect_left(records, record)
            if at == len(records) or records[at] != record:
                return None
        self._next = at + 1
        return None if isnan(self._seconds[at]) else at
