"""A column of whole numbers that mostly go up, in about a byte for each.

Steps and line numbers of a long log rise a little from record to record. They are kept in chunks: a
first number, how much each is beyond the one before, and the distances from that straight line, as
narrow as they fit.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain, compress, count, islice, repeat
from operator import add, le, sub
from typing import overload

BITS = 9
"""A chunk is so short that distances from a line mostly fit into a byte."""
CHUNK = 1 << BITS
NARROW = ("B", "H", "I")
"""Kinds of arrays, of one, two and four bytes."""
EXACT = array("B", bytes(CHUNK))
"""The distances of all chunks that are a straight line."""
FORGOTTEN = array("B")


class Column(Sequence[int]):
    """Numbers of up to eight bytes; one takes longer to get than from an array, all of them not."""

    __slots__ = ("_bases", "_offsets", "_slopes", "_tail")

    def __init__(self, values: Iterable[int] = ()) -> None:
        self._bases: list[int] = []
        self._slopes: list[int] = []
        self._offsets: list[array[int]] = []
        """Distances from a line that begins at the base, chunk by chunk."""
        self._tail: list[int] = []
        """What does not fill a chunk yet."""
        self.extend(values)

    def __len__(self) -> int:
        return len(self._bases) * CHUNK + len(self._tail)

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> list[int]: ...
    def __getitem__(self, index: int | slice) -> int | list[int]:
        if isinstance(index, slice):
            begin, end, stride = index.indices(len(self))
            if stride != 1:
                return [self[each] for each in range(begin, end, stride)]
            return self._cut(begin, end)
        chunk, place = index >> BITS, index % CHUNK
        if not 0 <= chunk < len(self._bases):
            chunk, place = self._place(index)
            if chunk == len(self._bases):
                return self._tail[place]
        return self._bases[chunk] + self._slopes[chunk] * place + self._offsets[chunk][place]

    def __setitem__(self, index: int, value: int) -> None:
        chunk, place = self._place(index)
        if chunk == len(self._bases):
            self._tail[place] = value
            return
        wide = array("q", self._chunk(chunk))
        wide[place] = value
        self._bases[chunk], self._slopes[chunk], self._offsets[chunk] = 0, 0, wide

    def __iter__(self) -> Iterator[int]:
        return self.since(0)

    def since(self, begin: int) -> Iterator[int]:
        """All numbers from this place on."""
        chunk, place = divmod(begin, CHUNK)
        chunks = map(self._chunk, range(chunk, len(self._bases) + 1))
        return islice(chain.from_iterable(chunks), place, None)

    def append(self, value: int) -> None:
        self._tail.append(value)
        if len(self._tail) == CHUNK:
            self._pack()

    def extend(self, values: Iterable[int]) -> None:
        if isinstance(values, list) and len(values) < CHUNK - len(self._tail):
            self._tail += values
            return
        each = iter(values)
        while True:
            self._tail.extend(islice(each, CHUNK - len(self._tail)))
            if len(self._tail) < CHUNK:
                return
            self._pack()

    def forget(self, end: int) -> None:
        """Give back the memory of most numbers before this place: nobody asks for them again."""
        chunk = (end >> BITS) - 1
        while 0 <= chunk < len(self._bases) and self._offsets[chunk]:
            self._offsets[chunk] = FORGOTTEN
            chunk -= 1

    @property
    def lowest(self) -> int:
        """The smallest of all numbers; there must be one."""
        return self._extreme(min)

    @property
    def highest(self) -> int:
        return self._extreme(max)

    def falls(self) -> list[int]:
        """Places of the numbers that are not beyond the one before them."""
        found: list[int] = []
        before: int | None = None
        for chunk in range(len(self._bases) + 1):
            numbers = self._chunk(chunk)
            if not numbers:
                break
            if before is not None and numbers[0] <= before:
                found.append(chunk * CHUNK)
            if not isinstance(numbers, range):
                is_fall = map(le, islice(numbers, 1, None), numbers)
                found += compress(count(chunk * CHUNK + 1), is_fall)
            before = numbers[-1]
        return found

    def _place(self, index: int) -> tuple[int, int]:
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(index)
        return divmod(index, CHUNK)

    def _cut(self, begin: int, end: int) -> list[int]:
        found: list[int] = []
        for chunk in range(begin >> BITS, ((end - 1) >> BITS) + 1):
            first = chunk << BITS
            part = slice(max(0, begin - first), end - first)
            if chunk == len(self._bases):
                found += self._tail[part]
            else:
                slope = self._slopes[chunk]
                line = count(self._bases[chunk] + slope * part.start, slope)
                found += map(add, line, self._offsets[chunk][part])
        return found

    def _chunk(self, chunk: int) -> Sequence[int]:
        """The numbers of a chunk; of the one that is not full after the last."""
        if chunk == len(self._bases):
            return self._tail
        base, slope, offsets = self._bases[chunk], self._slopes[chunk], self._offsets[chunk]
        if offsets is EXACT and slope:
            return range(base, base + slope * CHUNK, slope)
        return list(map(add, count(base, slope), offsets))

    def _extreme(self, pick: Callable[[Iterable[int]], int]) -> int:
        found: list[int] = []
        for numbers in map(self._chunk, range(len(self._bases) + 1)):
            if isinstance(numbers, range):
                found += numbers[0], numbers[-1]
            elif numbers:
                found.append(pick(numbers))
        return pick(found)

    def _pack(self) -> None:
        """Make a chunk of the tail, which is full."""
        base, slope, offsets = _packed(self._tail)
        self._tail = []
        self._bases.append(base)
        self._slopes.append(slope)
        self._offsets.append(offsets)


def _packed(numbers: list[int]) -> tuple[int, int, array[int]]:
    """A line through about the ends of the numbers, and their distances from it."""
    first = numbers[0]
    slope = max(0, (numbers[-1] - first) // (CHUNK - 1))
    if slope and numbers == list(range(first, first + slope * CHUNK, slope)):
        return first, slope, EXACT
    beyond = list(map(sub, numbers, count(first, slope)))
    if lowest := min(beyond):
        beyond = list(map(sub, beyond, repeat(lowest)))
    for kind in NARROW:
        with suppress(OverflowError):
            return first + lowest, slope, array(kind, beyond)
    return 0, 0, array("q", numbers)
