"""A file cut into blocks: of one kind of number each, so far as that is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from instride.pack.container import BLOCK_BYTES, MOST_BLOCKS
from instride.pack.dtypes import Region

SMALL_BYTES = 16 << 10
"""What is smaller than this goes along with what lies before it, whatever it is: headers between
tensors, biases between weights. What is larger starts where it starts, also in a base."""


class Cut(msgspec.Struct, frozen=True):
    start: int
    end: int
    width: int | None
    """Bytes of a float; None where only trying tells."""


def cut(regions: Sequence[Region], size_bytes: int) -> list[Cut]:
    """Blocks that cover a file from its first byte to its last."""
    blocks = [each for stretch in _joined(regions, size_bytes) for each in _pieces(stretch)]
    if len(blocks) > MOST_BLOCKS // 2:
        return list(_pieces(Cut(0, size_bytes, None)))
    return blocks


def _pieces(stretch: Cut) -> Iterator[Cut]:
    for start in range(stretch.start, stretch.end, BLOCK_BYTES):
        yield Cut(start, min(start + BLOCK_BYTES, stretch.end), stretch.width)


def _joined(regions: Sequence[Region], size_bytes: int) -> list[Cut]:
    """Neighbours of one width as one stretch, if their elements are aligned to each other.

    What follows the last numbers stands alone: a pickle there is seldom as long as in the base, and
    would take the numbers before it beyond the end of that."""
    end_of_numbers = max((region.end for region in regions if region.is_tensor), default=0)
    joined: list[Cut] = []
    for each in _covering(regions, size_bytes):
        if joined and each.start != end_of_numbers and _fits(joined[-1], each):
            joined[-1] = Cut(joined[-1].start, each.end, joined[-1].width)
        else:
            joined.append(each)
    return joined


def _fits(before: Cut, each: Cut) -> bool:
    if _size(each) < SMALL_BYTES:
        return True
    is_like_it = before.width == each.width and _size(before) >= SMALL_BYTES
    return is_like_it and (each.start - before.start) % (each.width or 1) == 0


def _covering(regions: Sequence[Region], size_bytes: int) -> Iterator[Cut]:
    """The regions, and what lies between them."""
    at = 0
    for region in regions:
        if region.start > at:
            yield Cut(at, region.start, None)
        yield Cut(region.start, region.end, region.width)
        at = region.end
    if size_bytes > at:
        yield Cut(at, size_bytes, None)


def _size(stretch: Cut) -> int:
    return stretch.end - stretch.start
