"""The plain way, for state that cannot be frozen: `torch.save` into the arena, at once."""

from __future__ import annotations

import io
import os

import torch

from instride.errors import StateTooLargeError
from instride.snapshot.arena import Arena
from instride.snapshot.pages import CHECK_BYTES
from instride.snapshot.pickling import refused_in
from instride.snapshot.runtime import await_devices
from instride.snapshot.views import view_of
from instride.store.manifest import PIECE_BYTES


class _ArenaFile(io.RawIOBase):
    """The arena as a file that grows as it is written."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._at = 0
        self.num_bytes = 0
        self._usable_bytes = 0
        self.error: StateTooLargeError | None = None
        """Why no more was taken; torch, which writes, has words of its own for that."""

    def write(self, data: object) -> int:
        view = memoryview(data).cast("B")  # type: ignore[arg-type]
        end = self._at + len(view)
        if end > self._arena.num_bytes:
            self._arena.grow(max(end, self._arena.num_bytes + 16 * PIECE_BYTES))
        if end > self._usable_bytes:
            self._usable_bytes = self._arena.usable_bytes(end + CHECK_BYTES)
        if end > self._usable_bytes:
            self.error = StateTooLargeError(end, self._usable_bytes)
            raise self.error
        view_of(self._arena.memory)[self._at : end] = view
        self._at = end
        self.num_bytes = max(self.num_bytes, end)
        return len(view)

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        num_bytes = min(len(view), self.num_bytes - self._at)
        view[:num_bytes] = view_of(self._arena.memory)[self._at : self._at + num_bytes]
        self._at += num_bytes
        return num_bytes

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        start = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self.num_bytes}[whence]
        self._at = start + offset
        return self._at

    def tell(self) -> int:
        return self._at

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True


def save_into(arena: Arena, tree: object) -> tuple[int, list[str]]:
    """Put a whole `.pt` file into the arena: its length, and what `weights_only` refuses."""
    file = _ArenaFile(arena)
    await_devices()  # which may still be writing to memory of the host
    try:
        torch.save(tree, file)
    except Exception:  # torch's writer in C++ makes something else of what the file raised
        if file.error is not None:
            raise file.error from None
        raise
    return file.num_bytes, refused_in(io.BufferedReader(file))
