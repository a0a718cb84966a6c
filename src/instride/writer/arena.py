"""The arena as the writer sees it."""

from __future__ import annotations

from collections.abc import Sequence

from instride.system.striped import fill, reserve


class ArenaMap:
    """Mapped memory of the trainer's; it grows with it."""

    def __init__(self, fds: Sequence[int]) -> None:
        self._fds = fds
        self._view = memoryview(b"")

    def view(self, num_bytes: int) -> memoryview:
        if len(self._view) != num_bytes:
            self._view = memoryview(b"")
            if num_bytes:
                self._view = memoryview(fill(reserve(num_bytes), self._fds)).cast("B")
        return self._view
