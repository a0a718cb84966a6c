"""Where the bytes of a checkpoint lie in the one before it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from instride.pack.dtypes import Region


class Mapping:
    """From places in a file to places in its base, by the names of what lies there.

    A pickle that grew by a byte moves what lies behind it: names stay. Where nothing has a name,
    bytes are compared with those at the same place.
    """

    def __init__(self, own: Sequence[Region], base: Sequence[Region], base_bytes: int) -> None:
        places = {region.name: region for region in base}
        same = [
            (region, places[region.name])
            for region in own
            if region.name in places and _size(places[region.name]) == _size(region)
        ]
        self._regions = [region for region, _ in same]
        self._starts = [region.start for region, _ in same]
        self._moved = [other.start - region.start for region, other in same]
        self._base_bytes = base_bytes

    def offset_of(self, start: int, end: int) -> int | None:
        """Where the base may have the same bytes; None if it ends before."""
        offset = start + self._shift(start, end)
        return offset if offset >= 0 and offset + end - start <= self._base_bytes else None

    def _shift(self, start: int, end: int) -> int:
        """How far the region with the most bytes in this stretch has moved."""
        best, most = 0, 0
        number = max(0, bisect_right(self._starts, start) - 1)
        for region, moved in zip(self._regions[number:], self._moved[number:], strict=True):
            if region.start >= end:
                break
            shared = min(end, region.end) - max(start, region.start)
            if shared > most:
                best, most = moved, shared
        return best


def _size(region: Region) -> int:
    return region.end - region.start
