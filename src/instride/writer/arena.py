"""The arena as the writer sees it."""

from __future__ import annotations

import mmap


class ArenaMap:
    """Mapped memory of the trainer's; it grows with it."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._view: memoryview | None = None

    def view(self, num_bytes: int) -> memoryview:
        if self._view is None or len(self._view) != num_bytes:
            self._view = (
                memoryview(mmap.mmap(self._fd, num_bytes)) if num_bytes else memoryview(b"")
            )
        return self._view
