"""Waiting for the writer as long as it gets something done, and no longer."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from instride.errors import InstrideError, SaveSkippedError, StorageStuckError
from instride.saver.courier import Courier
from instride.saver.letter import Letter
from instride.saver.pending import Pending
from instride.writer.page import PROGRESS, SharedPage

WATCH_S = 0.05


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


class Watch:
    """Waits for a writer. An answer says why there is no more waiting for it."""

    def __init__(self, courier: Courier, page: SharedPage, stall_s: float) -> None:
        self._courier = courier
        self._page = page
        self._stall_s = stall_s
        self._stuck_at: int | None = None
        """What had got done when patience was over. Training does not wait again for the same."""
        self._looked_at: tuple[Letter, Patience] | None = None

    def for_letter(
        self, letter: Letter, path: Path | None, *, is_closing: bool = False
    ) -> InstrideError | None:
        """Until it is answered; who trains does not wait for space on the disk."""
        patience = Patience(self._page, self._stall_s)
        while not letter.await_settled(WATCH_S):
            if self._courier.is_blocked and not is_closing:
                return SaveSkippedError(path, is_full=True)
            is_known = self._stuck_at == self._page[PROGRESS] and not is_closing
            if is_known or patience.is_over():
                return self._stuck(path)
        return None

    def at_a_glance(self, letter: Letter, last: Pending) -> InstrideError | None:
        """By who does not wait, but comes again and again: whether it is stuck by now. A writer
        that has yielded to training for so long is told not to, and looked at as long again."""
        if self._looked_at is None or self._looked_at[0] is not letter:
            self._looked_at = letter, Patience(self._page, self._stall_s)
        if self._courier.is_blocked or not self._looked_at[1].is_over():
            return None
        if not last.is_awaited:
            last.hurry()
            self._looked_at = letter, Patience(self._page, self._stall_s)
            return None
        return self._stuck(last.path)

    def over_stream(self, letter: Letter, path: Path) -> Callable[[], bool]:
        """What tells whether nobody takes the pieces any more. Raises StorageStuckError."""
        patience = Patience(self._page, self._stall_s)

        def is_gone() -> bool:
            if patience.is_over():
                raise self._stuck(path)
            return letter.is_settled

        return is_gone

    def _stuck(self, path: Path | None) -> StorageStuckError:
        self._stuck_at = self._page[PROGRESS]
        return StorageStuckError(path or "checkpoints", self._stall_s)

    def for_answer(self, letter: Letter, last: Pending) -> InstrideError | None:
        """Until it is known what became of it, by somebody who needs that more than time; why there
        is no more waiting for it."""
        last.hurry()
        trouble = self.for_letter(letter, last.path, is_closing=True)
        if trouble is None:
            last.await_done(self._stall_s)
        return trouble

    def for_last(self, letter: Letter | None, last: Pending | None) -> InstrideError | None:
        """Until the last save is answered and the writer gone; why one of them did not come, or how
        the save failed."""
        path = self._courier.directory if last is None else last.path
        if letter is None or last is None:
            return self.for_end(path)
        trouble = self.for_answer(letter, last) or self.for_end(path)
        return trouble or last.error

    def for_end(self, path: Path | None) -> InstrideError | None:
        """Until the writer has read back, deleted and let go of the store."""
        patience = Patience(self._page, self._stall_s)
        while not self._courier.await_end(WATCH_S):
            if patience.is_over():
                return self._stuck(path)
        return None
