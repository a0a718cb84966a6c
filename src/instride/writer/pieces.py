"""An image on its way out of the arena, piece by piece."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from blake3 import blake3

from instride.faults import reached
from instride.image.layout import Layout
from instride.store.manifest import PIECE_BYTES
from instride.store.staggering import Staggered
from instride.writer.direct import PieceFile
from instride.writer.lanes import Lane, cut_into_lanes, one_lane
from instride.writer.page import COPIED, WRITTEN, SharedPage
from instride.writer.reading_back import Checksum

POLL_S = 0.0005
PIECES_A_TURN = 2
"""Written at a time: fewer calls take less of a core, and a thread that yields holds them long."""
SLICE_BYTES = 512 << 10
"""What is completed, hashed and summed up at a time: it comes from memory once, and is in the
cache of the core for the rest."""


class StreamEndedError(Exception):
    """The trainer is gone, or gave up, before all of the snapshot came through."""


class ImagePieces:
    """The whole pieces of one image: each is completed, hashed and written."""

    def __init__(
        self,
        arena: memoryview,
        layout: Layout,
        num_pieces: int,
        file: PieceFile,
        page: SharedPage,
        is_over: Callable[[], bool],
        writing: Staggered,
        streams: bool,
        arrives: bool = False,
    ) -> None:
        self._arena = arena
        self._num_pieces = num_pieces
        self._num_slots = len(arena) // PIECE_BYTES
        self._lanes = (one_lane if streams else cut_into_lanes)(layout, num_pieces)
        self._file = file
        self._page = page
        self._is_over = is_over
        self._streams = streams
        self._arrives = arrives
        self._num_a_turn = 1 if streams else PIECES_A_TURN
        self._writing = writing
        self._lane_changed = threading.Condition()
        self._tally = threading.Lock()
        self._done: set[int] = set()
        self._num_written = 0
        self._sums: dict[int, tuple[str, str]] = {}

    @property
    def turn_bytes(self) -> int:
        return self._num_a_turn * PIECE_BYTES

    def slot(self, index: int) -> memoryview:
        """Where a piece lies in the arena."""
        start = self._start_of(index)
        return self._arena[start : start + PIECE_BYTES]

    def _start_of(self, index: int) -> int:
        return (index % self._num_slots if self._streams else index) * PIECE_BYTES

    def do_one(self) -> bool:
        lane = self._take_lane()
        if lane is None:
            return False
        try:
            indices = lane.take(self._num_a_turn)
            for index in indices:
                self._complete(index, lane)
                reached("write")  # for each, however many are written in one call
        finally:
            self._give_back(lane)
        # They lie one behind the other in the arena too: only streams wrap around, one at a time.
        start = self._start_of(indices[0])
        num_bytes = len(indices) * PIECE_BYTES
        with self._writing.turn():
            self._file.write(self._arena[start : start + num_bytes], indices[0] * PIECE_BYTES)
        for index in indices:
            self._tell(index)
        return True

    def _take_lane(self) -> Lane | None:
        """The first lane that nobody works at, so that a disk sees few places at a time."""
        with self._lane_changed:
            while unfinished := [lane for lane in self._lanes if lane.pieces]:
                if self._is_over():
                    raise StreamEndedError
                for lane in unfinished:
                    if not lane.is_taken and self._may_begin(lane.pieces[0]):
                        lane.is_taken = True
                        return lane
                self._lane_changed.wait(POLL_S if self._arrives else None)
        return None

    def _may_begin(self, index: int) -> bool:
        """Not with a lane of which nothing has come yet, while others have work. Of a stream there
        is one lane, and who has it waits."""
        return not self._arrives or self._page[COPIED] > index

    def _give_back(self, lane: Lane) -> None:
        with self._lane_changed:
            lane.is_taken = False
            self._lane_changed.notify_all()

    def _complete(self, index: int, lane: Lane) -> None:
        if self._streams or self._arrives:
            self.await_copy(index)
        if lane.ahead:
            lane.finisher.look_at(self._arena[lane.ahead.start : lane.ahead.stop])
            lane.ahead = range(0)
        digest, checksum = blake3(), Checksum()
        piece = self.slot(index)
        for start in range(0, PIECE_BYTES, SLICE_BYTES):
            part = piece[start : start + SLICE_BYTES]
            crc = lane.finisher.finish(part, index * PIECE_BYTES + start)
            digest.update(part)
            if crc is None:
                checksum.update(part)
            else:
                checksum.append(crc, len(part))
        self._sums[index] = digest.hexdigest(), checksum.hexdigest()

    def complete_rest(self, rest: memoryview) -> None:
        """What is behind the last whole piece, once these are done."""
        if rest and (self._streams or self._arrives):
            self.await_copy(self._num_pieces)
        self._lanes[-1].finisher.finish(rest, self._num_pieces * PIECE_BYTES)

    def sums(self) -> list[tuple[str, str]]:
        """The hash and the checksum of every whole piece."""
        return [self._sums[index] for index in range(self._num_pieces)]

    def crcs(self) -> list[int]:
        """Of every storage."""
        return [crc for lane in self._lanes for crc in lane.finisher.crcs]

    def await_copy(self, index: int) -> None:
        """Wait until the trainer has put a piece into its slot."""
        while self._page[COPIED] <= index:
            if self._is_over():
                raise StreamEndedError
            time.sleep(POLL_S)

    def _tell(self, index: int) -> None:
        self._page.count_progress()
        with self._tally:
            self._done.add(index)
            while self._num_written in self._done:
                self._done.discard(self._num_written)
                self._num_written += 1
            if self._streams:
                self._page[WRITTEN] = self._num_written
