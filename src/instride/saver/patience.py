"""Waiting for the writer as long as it gets something done, and no longer."""

from __future__ import annotations

import time

from instride.writer.page import PROGRESS, SharedPage


class Patience:
    """Is over when nothing was written, synced or read back for so many seconds."""

    def __init__(self, page: SharedPage, stall_s: float) -> None:
        self._page = page
        self._stall_s = stall_s
        self._progress = page[PROGRESS]
        self._since_s = time.monotonic()

    def is_over(self) -> bool:
        if self._page[PROGRESS] != self._progress:
            self._progress, self._since_s = self._page[PROGRESS], time.monotonic()
        return time.monotonic() - self._since_s > self._stall_s
