"""An image cut into lanes: each is completed from its beginning to its end, and beside the others.

The checksum of a storage stands behind it, so that what follows can only be hashed once the whole
storage was seen. One lane would do for that, but let one thread work at a time.
"""

from __future__ import annotations

from bisect import bisect_right

from instride.image.finishing import Finisher
from instride.image.layout import Layout
from instride.store.manifest import PIECE_BYTES

MOST_LANES = 16
"""More than there are threads: one that yields may hold a lane for long."""
FEWEST_PIECES = 4
"""Of a lane: less is done before others could help."""
MOST_AHEAD_BYTES = 2 * PIECE_BYTES
"""What a lane may have to look at of the one before it: the begin of its first storage."""


class Lane:
    """Some pieces of an image, of which one thread at a time takes the next ones."""

    def __init__(self, pieces: range, finisher: Finisher, ahead: range) -> None:
        self.pieces = pieces
        """Those that nobody has taken yet."""
        self.finisher = finisher
        self.ahead = ahead
        """Bytes before it that belong to the storage in which it begins."""
        self.is_taken = False

    def take(self, most: int) -> range:
        taken, self.pieces = self.pieces[:most], self.pieces[most:]
        return taken


def one_lane(layout: Layout, num_pieces: int) -> list[Lane]:
    """For what arrives in order, and has no place of its own."""
    return [Lane(range(num_pieces), Finisher(layout), range(0))]


def cut_into_lanes(layout: Layout, num_pieces: int) -> list[Lane]:
    """Lanes of about the same length; fewer where a storage is longer than a lane."""
    num_lanes = max(1, min(MOST_LANES, num_pieces // FEWEST_PIECES))
    begins = [record.header_offset for record in layout.records]
    starts: list[tuple[int, int, range]] = []
    for number in range(num_lanes):
        first = number * num_pieces // num_lanes
        offset = first * PIECE_BYTES
        record = max(0, bisect_right(begins, offset) - 1)
        ahead = _ahead(layout, record, offset)
        if len(ahead) <= MOST_AHEAD_BYTES:
            starts.append((first, record, ahead))
    ends = [first for first, _, _ in starts[1:]] + [num_pieces]
    return [
        Lane(range(first, end), Finisher(layout, record), ahead)
        for (first, record, ahead), end in zip(starts, ends, strict=True)
    ]


def _ahead(layout: Layout, record: int, offset: int) -> range:
    if record >= len(layout.records):
        return range(0)
    found = layout.records[record]
    return range(found.data_offset, max(found.data_offset, min(offset, found.data_end)))
