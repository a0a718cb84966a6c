"""The bytes of one device cut to size: by blocks of its memory, and by what is locked at once.

All blocks are equally large, so that any of them may get the room that there is. They begin at
whole multiples of their size in the file, and no piece crosses from one registration of the arena
into the next: a GPU refuses such a copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import pairwise

import torch

from instride.image.layout import Record
from instride.snapshot.locked import REGISTERED_BYTES
from instride.snapshot.planning import Plan

BLOCK_BYTES = 512 << 20
Pairs = tuple[list[torch.Tensor], list[torch.Tensor]]
"""Places, and what belongs there."""
Kind = tuple[torch.dtype, list[int], list[torch.Tensor]]
"""Of words: lengths of gaps and of what has them, in turn, and the words themselves."""
WORDS = (torch.int64, torch.int32, torch.uint8)
"""A device copies many words of one kind at once, and bytes one by one."""


class Share:
    """What of a storage lies in one block."""

    def __init__(self, record: Record, source: torch.Tensor, memory: torch.Tensor) -> None:
        self.record = record
        self.source = source
        self._memory = memory
        self.first = record.data_offset
        self.last = record.data_end

    def within(self, first: int, last: int) -> Share:
        """The part of it from one place of the file to another."""
        share = Share(self.record, self.source, self._memory)
        share.first, share.last = max(first, self.first), min(last, self.last)
        return share

    def of(self, source: torch.Tensor) -> Share:
        """The same part of the file from another storage."""
        return Share(self.record, source, self._memory).within(self.first, self.last)

    @cached_property
    def bytes(self) -> torch.Tensor:
        return self.source[self.first - self.record.data_offset :][: self.last - self.first]

    @cached_property
    def words(self) -> torch.Tensor:
        """The bytes in the widest words that they are made of."""
        return next(
            self.bytes.view(kind)
            for kind in WORDS
            if self.bytes.numel() % kind.itemsize == 0
            and self.bytes.data_ptr() % kind.itemsize == 0
        )

    @cached_property
    def over_the_bus(self) -> Pairs:
        """Places in the arena, each within one registration, and what belongs there."""
        sizes = _sizes(self.first, self.last)
        places = self._memory[self.first : self.last].split_with_sizes(sizes)
        return list(places), list(self.bytes.split_with_sizes(sizes))


class Block:
    """A stretch of the file that may lie in device memory for a while."""

    def __init__(self, first: int, shares: list[Share], memory: torch.Tensor) -> None:
        self.first = first
        self.last = shares[-1].last
        self.shares = shares
        self._memory = memory
        self._runs = _runs(shares)
        self._kinds: list[Kind] | None = list(self._of_each_kind())

    def take(self, number: int, share: Share) -> None:
        """From here on, in the place of one that was there. Who has that one goes on with it."""
        self.shares = [*self.shares[:number], share, *self.shares[number + 1 :]]
        self._kinds = None  # where a kernel copies, nobody asks for them

    def _of_each_kind(self) -> Iterator[Kind]:
        """For each kind of word: lengths of gaps and of shares, in turn, and the shares' words."""
        for kind in WORDS:
            cuts: list[int] = []
            words: list[torch.Tensor] = []
            at = self.first
            for share in self.shares:
                if share.words.dtype is kind:
                    cuts += [(share.first - at) // kind.itemsize, share.words.numel()]
                    words.append(share.words)
                    at = share.last
            if words:
                yield kind, cuts, words

    def place_of(self, share: Share, staged: torch.Tensor) -> torch.Tensor:
        """In words of the kind that the share has."""
        place = staged[share.first - self.first : share.last - self.first]
        return place.view(share.words.dtype)

    def inside(self, staged: torch.Tensor) -> Iterator[tuple[torch.dtype, Pairs]]:
        """Places on the device, cut in one call for each kind of word: there may be thousands."""
        if self._kinds is None:
            self._kinds = list(self._of_each_kind())
        for kind, cuts, words in self._kinds:
            places = staged.view(kind)[: sum(cuts)].split_with_sizes(cuts)[1::2]
            yield kind, (list(places), words)

    def to_host(self, staged: torch.Tensor) -> Pairs:
        """Places in the arena, each within one registration, and what of the block goes there."""
        places: list[torch.Tensor] = []
        pieces: list[torch.Tensor] = []
        for first, last in self._runs:
            sizes = _sizes(first, last)
            places += self._memory[first:last].split_with_sizes(sizes)
            pieces += staged[first - self.first : last - self.first].split_with_sizes(sizes)
        return places, pieces


def block_bytes_for(num_bytes: int) -> int:
    """How large the blocks for a file are: one is enough for a small one."""
    return min(BLOCK_BYTES, -(-num_bytes // REGISTERED_BYTES) * REGISTERED_BYTES)


def cut(plan: Plan, memory: torch.Tensor, device: torch.device) -> list[Block]:
    """The blocks that hold what of a plan is on a device."""
    shares = [
        Share(record, source, memory)
        for record, source in zip(plan.layout.records, plan.sources, strict=True)
        if source.device == device and record.num_bytes
    ]
    block_bytes = block_bytes_for(plan.layout.num_bytes)
    found: dict[int, list[Share]] = {}
    for share in shares:
        for number in range(share.first // block_bytes, (share.last - 1) // block_bytes + 1):
            start = number * block_bytes
            found.setdefault(start, []).append(share.within(start, start + block_bytes))
    return [Block(start, within, memory) for start, within in found.items()]


def grouped(many: Iterable[Pairs], most_bytes: int) -> Iterator[Pairs]:
    """Places and what belongs there, in order, in groups of so many bytes at the most; a piece that
    is larger is a group by itself."""
    places: list[torch.Tensor] = []
    pieces: list[torch.Tensor] = []
    size = 0
    for pairs in many:
        for place, piece in zip(*pairs, strict=True):
            if places and size + piece.numel() > most_bytes:
                yield places, pieces
                places, pieces, size = [], [], 0
            places.append(place)
            pieces.append(piece)
            size += piece.numel()
    if places:
        yield places, pieces


def _runs(shares: list[Share]) -> list[tuple[int, int]]:
    """Stretches in which all storages are on the device: each is copied as one.

    What lies between two of them, a header and padding, is filled in by the writer later.
    """
    runs: list[tuple[int, int]] = []
    before: Record | None = None
    for share in shares:
        if before is not None and share.record.header_offset == before.end:
            runs[-1] = (runs[-1][0], share.last)
        else:
            runs.append((share.first, share.last))
        before = share.record
    return runs


def _sizes(first: int, last: int) -> list[int]:
    """A stretch of the arena in parts that lie in one registration each."""
    next_start = (first // REGISTERED_BYTES + 1) * REGISTERED_BYTES
    bounds = [first, *range(next_start, last, REGISTERED_BYTES), last]
    return [end - start for start, end in pairwise(bounds)]
