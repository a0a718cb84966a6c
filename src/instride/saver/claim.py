"""Whether the store is ours, as the writer says it, and why not."""

from __future__ import annotations

import threading

from instride.errors import InstrideError
from instride.writer.protocol import Ready


class Claim:
    """What is known of it by now. The line tells it, and whoever trains waits for it."""

    def __init__(self) -> None:
        self._is_known = threading.Event()
        self.refusal: InstrideError | None = None
        """Why there is nobody to write into the store."""
        self.waits_for: int | None = None
        """The pid of a writer that still works for a dead trainer."""
        self.problem: str | None = None
        """Why nothing can be written into the store."""

    def await_known(self, timeout: float | None) -> bool:
        """Wait until it is ours. Raises why it will not be."""
        is_known = self._is_known.wait(timeout)
        if self.refusal is not None:
            raise self.refusal
        return is_known

    def ask_anew(self) -> None:
        """Before a writer starts: it may answer at once, and nobody repeats an answer."""
        self._is_known.clear()
        self.refusal = None

    def grant(self, ready: Ready) -> None:
        self.problem = ready.directory_problem
        self.waits_for = None
        self._is_known.set()

    def refuse(self, why: InstrideError) -> None:
        self.refusal = why
        self._is_known.set()
