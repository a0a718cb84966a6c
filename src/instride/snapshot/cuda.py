"""Copying storages off a GPU: inside its memory first, where there is room, then to the host.

A copy inside the device takes milliseconds and is ordered by the stream that computes, so that
training goes on at once. What follows, over the bus, is driven by threads, few pieces at a time:
a loop that synchronizes every step waits for all streams, and would wait for one long copy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import torch

from instride.snapshot.arena import Arena
from instride.snapshot.arriving import Telling, tell_nobody
from instride.snapshot.blocks import WORDS, Block, Pairs, Share, block_bytes_for, cut, grouped
from instride.snapshot.crossing import HURRIED_BYTES, Crossing
from instride.snapshot.device_arena import DeviceArena
from instride.snapshot.gathering import Move, Moves
from instride.snapshot.late import ChangedError, LateCopy, Storages
from instride.snapshot.planning import Plan
from instride.snapshot.runtime import letting_others_capture
from instride.snapshot.seen import seen


class DeviceCopy:
    """The storages of one device on their way into the arena.

    What finds no room on the device goes over the bus while forward and backward run: what only an
    optimizer changes is copied late, and the optimizer waits for it (`fence`); everything else is
    copied in the order of the stream that computes.
    """

    def __init__(self, plan: Plan, arena: Arena, on_device: DeviceArena) -> None:
        self._arena = arena
        self._on_device = on_device
        self._device = on_device.device
        self._block_bytes = block_bytes_for(plan.layout.num_bytes)
        memory = arena.memory  # once: where it grows meanwhile, this is of the one before
        self._blocks = cut(plan, memory, self._device)
        self._sources = [source for source in plan.sources if source.device == self._device]
        self._moves = self._tabled()
        if self._moves is not None:
            self._sources.append(self._moves.table)
        seen.add(self._sources)
        self._start = torch.cuda.Event(blocking=True)
        self._is_begun = False
        self._staged: list[tuple[Block, torch.Tensor]] = []
        self._crossing = Crossing(arena, memory, on_device.ring)
        self._late = LateCopy(self._crossing)

    def _tabled(self) -> Moves | None:
        """None on a device that is so full that not even a table finds room: torch copies then."""
        try:
            return Moves(list(_moves(self._blocks, self._block_bytes)), self._on_device.stream)
        except torch.OutOfMemoryError:
            return None

    @property
    def has_room(self) -> bool:
        """Whether the device can hold all of it, as far as can be told before it is asked for."""
        return self._on_device.memory.has_room(self._block_bytes * len(self._blocks))

    def begin(self) -> None:
        """Take the snapshot now, if that is quickly done: `copy` has nothing left to do then."""
        if self._on_device.gatherer is not None and self._moves is not None:
            taken = self._on_device.memory.take_kept(self._block_bytes * len(self._blocks))
            if taken is not None:
                self._stage(self._blocks, taken)
                self._is_begun = True

    def follow(self, others: Mapping[int, torch.Tensor]) -> None:
        """Go on with other storages, by where they begin in the file. Where a snapshot was begun,
        only these are copied anew: the others are in it, in the order of the same stream."""
        with torch.cuda.device(self._device), torch.no_grad():
            replaced: dict[int, torch.Tensor] = {}
            row = 0
            for number, block in enumerate(self._blocks):
                for nth, share in enumerate(block.shares):
                    other = others.get(share.record.data_offset)
                    if other is not None:
                        replaced[id(share.source)] = other
                        block.take(nth, share.of(other))
                        self._bring_along(row, number, block.shares[nth])
                    row += 1
            self._sources = [replaced.get(id(source), source) for source in self._sources]
            seen.add(replaced.values())
            if self._is_begun:
                _let_use(replaced.values(), torch.cuda.current_stream())
                self._mark_start()

    def _bring_along(self, row: int, number: int, share: Share) -> None:
        if self._moves is not None:
            self._moves.change(row, share.bytes.data_ptr())
        if self._is_begun:
            block, memory = self._staged[number]
            torch._foreach_copy_([block.place_of(share, memory)], [share.words])

    def copy(self, promise: Callable[[], Storages]) -> None:
        """Take the snapshot, in the order of the stream that computes. Returns at once."""
        if self._is_begun:
            self._is_begun = False
            return
        taken = self._on_device.memory.take(self._block_bytes, len(self._blocks))
        num_left = len(self._blocks) - (0 if taken is None else taken.numel() // self._block_bytes)
        blocks = self._blocks
        if num_left:
            if self._on_device.memory.knows_peak:
                # For the next time: what no room is found for goes there directly.
                self._arena.lock(self._device)
            promised = promise() if self._on_device.may_be_late else {}
            blocks = sorted(blocks, key=lambda block: _num_prompt(block, promised))
            self._leave_for_later(blocks[:num_left], promised)
        self._stage(blocks[num_left:], taken)

    def _stage(self, blocks: list[Block], taken: torch.Tensor | None) -> None:
        with torch.cuda.device(self._device), torch.no_grad():
            memory = () if taken is None else taken.split(self._block_bytes)
            self._staged = list(zip(blocks, memory, strict=True))
            if taken is None or not self._gather(taken):
                _copy_inside(self._staged)
            is_all = len(blocks) == len(self._blocks)
            sources = self._sources if is_all else _sources_of(_shares_in(blocks))
            _let_use(sources, torch.cuda.current_stream())  # while the device copies
            self._mark_start()

    def _mark_start(self) -> None:
        """Behind all that is copied inside the device. The other stream waits from here, not from
        the thread that drains: a source that is emptied before that one comes to it would get its
        old place again, and be taken for what it was."""
        self._start.record()
        self._on_device.stream.wait_event(self._start)

    def _gather(self, taken: torch.Tensor) -> bool:
        """Copy with one kernel, where there is one and room for all."""
        gatherer = self._on_device.gatherer
        if gatherer is None or self._moves is None or len(self._staged) < len(self._blocks):
            return False
        try:
            gatherer.gather(self._moves, taken)
        except OSError:
            self._on_device.gatherer = None
            return False
        return True

    def _leave_for_later(self, blocks: list[Block], promised: Storages) -> None:
        late: list[Share] = []
        prompt: list[Share] = []
        for share in _shares_in(blocks):
            (late if share.source.data_ptr() in promised else prompt).append(share)
        with torch.cuda.device(self._device), torch.no_grad():
            _let_use(_sources_of(late), self._on_device.stream)
            _let_use(_sources_of(prompt), torch.cuda.current_stream())
            for places, pieces in grouped((share.over_the_bus for share in prompt), HURRIED_BYTES):
                torch._foreach_copy_(places, pieces, non_blocking=True)
        self._late.begin(late, promised)

    @property
    def arrives_in_order(self) -> bool:
        """Whether all of it lies on the device, and comes from its first byte to its last."""
        is_whole = len(self._staged) == len(self._blocks)
        return is_whole and not self.is_late and not self._arena.locked_bytes

    def drain(self, tell: Telling = tell_nobody) -> None:
        """Off the training thread: bring everything to the host, and give the memory back."""
        stream = self._on_device.stream
        try:
            with (
                torch.cuda.device(self._device),  # first: else that is another one's context
                torch.cuda.stream(stream),
                torch.no_grad(),
                letting_others_capture(),
            ):
                self._late.copy()
                self._late.end()
                staged = (block.to_host(memory) for block, memory in self._staged)
                self._crossing.copy(staged, tell)
                self._crossing.finish()
                self._start.synchronize()
        except ChangedError:
            self._on_device.may_be_late = False
            raise
        finally:
            self._late.end()  # whatever happened, training must not wait for it
            self._staged = []
            self._is_begun = False  # what was begun for another state is not that of the next save
            self._on_device.memory.settle()

    @property
    def is_late(self) -> bool:
        return self._late.is_pending

    def fence(self) -> None:
        """Before an optimizer changes what is still being copied: let it wait for that."""
        self._late.fence(self._device)


def _let_use(sources: Iterable[torch.Tensor], stream: torch.cuda.Stream) -> None:
    """A storage that is freed meanwhile (`resize_(0)`) must outlive its copy. To be said each time:
    it may have been freed since the last one, and have other memory at its old place. Torch takes
    two microseconds to hear it, so it is said of those streams alone that use it."""
    for source in sources:
        source.record_stream(stream)


def _shares_in(blocks: Iterable[Block]) -> Iterator[Share]:
    return (share for block in blocks for share in block.shares)


def _sources_of(shares: Iterable[Share]) -> Iterable[torch.Tensor]:
    """Each of them once: a large one lies in several blocks."""
    return {id(share.source): share.source for share in shares}.values()


def _moves(blocks: Iterable[Block], block_bytes: int) -> Iterator[Move]:
    """All blocks side by side, as they lie where there is room for all."""
    for number, block in enumerate(blocks):
        for share in block.shares:
            place = number * block_bytes + share.first - block.first
            yield Move(share.bytes.data_ptr(), place, share.bytes.numel())


def _num_prompt(block: Block, promised: Storages) -> int:
    """Bytes that cannot wait: the blocks with most of them get the room that there is."""
    return sum(
        share.last - share.first
        for share in block.shares
        if share.source.data_ptr() not in promised
    )


def _copy_inside(staged: Iterable[tuple[Block, torch.Tensor]]) -> None:
    """One call for all words of one kind: a launch for each storage would take milliseconds."""
    found: dict[torch.dtype, Pairs] = {kind: ([], []) for kind in WORDS}
    for block, memory in staged:
        for kind, (places, words) in block.inside(memory):
            found[kind][0].extend(places)
            found[kind][1].extend(words)
    for places, sources in found.values():
        if places:
            torch._foreach_copy_(places, sources)
