"""An image cut into lanes: each is completed from its beginning to its end, and beside the others.

The checksum of a storage stands behind it, so that what follows can only be hashed once the whole
storage was seen. One lane would do for that, but let one thread work at a time.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from instride.image.finishing import Finisher
from instride.image.layout import Layout
from instride.store.manifest import PIECE_BYTES

MOST_LANES = 32
"""More than there are threads that yield and threads that take the budget: one of them may hold a
lane for long, and whoever hurries needs others. Few large storages make fewer lanes than that."""
FEWEST_PIECES = 4
"""Of a lane: less is done before others could help."""


class Lane:
    """Some pieces of an image, of which one thread at a time takes the next ones."""

    def __init__(self, pieces: range, finisher: Finisher, ahead: range = range(0)) -> None:
        self.pieces = pieces
        """Those that nobody has taken yet."""
        self.finisher = finisher
        self.ahead = ahead
        """Bytes before it that belong to the storage in which it begins: less than a piece."""
        self.is_taken = False

    def take(self, most: int) -> range:
        taken, self.pieces = self.pieces[:most], self.pieces[most:]
        return taken


def one_lane(layout: Layout, num_pieces: int) -> list[Lane]:
    """For what arrives in order, and has no place of its own."""
    return [Lane(range(num_pieces), Finisher(layout))]


def cut_into_lanes(layout: Layout, num_pieces: int) -> list[Lane]:
    """Lanes of about the same length, each from the piece on in which, or behind which, a storage
    begins; fewer where a storage is longer than a lane."""
    begins = [record.header_offset for record in layout.records]
    firsts = [0]
    for number in range(1, MOST_LANES):
        first = _cut_behind(number * num_pieces // MOST_LANES, begins)
        if min(first - firsts[-1], num_pieces - first) >= FEWEST_PIECES:
            firsts.append(first)
    ends = [*firsts[1:], num_pieces]
    return [
        _lane(layout, begins, range(first, end)) for first, end in zip(firsts, ends, strict=True)
    ]


def _cut_behind(piece: int, begins: list[int]) -> int:
    """The first border of pieces behind the begin of a storage, from a piece on. What is no zip has
    no storages, and can be cut anywhere."""
    if not begins:
        return piece
    following = bisect_left(begins, piece * PIECE_BYTES)
    return -(-begins[following] // PIECE_BYTES) if following < len(begins) else 0


def _lane(layout: Layout, begins: list[int], pieces: range) -> Lane:
    offset = pieces.start * PIECE_BYTES
    number = bisect_right(begins, offset) - 1
    if number < 0:
        return Lane(pieces, Finisher(layout))
    record = layout.records[number]
    ahead = range(record.data_offset, max(record.data_offset, min(offset, record.data_end)))
    return Lane(pieces, Finisher(layout, number), ahead)
