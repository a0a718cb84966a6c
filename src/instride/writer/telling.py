"""What the writer says: to the trainer, to the person behind it, and to the journal."""

from __future__ import annotations

import threading

from instride.writer.journal import Journal, Value
from instride.writer.protocol import Notice, ToTrainer, Wire
from instride.writer.sayable import sayable_message


def why_of(error: Exception) -> str:
    """What went wrong, for the journal."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__


class Told:
    """May be used by any thread."""

    def __init__(self, wire: Wire, journal: Journal | None) -> None:
        self._wire = wire
        self._journal = journal
        self._noticed: set[str] = set()
        self._sending = threading.Lock()

    def note(self, kind: str, at_s: float | None = None, /, **fields: Value) -> None:
        """A line of the journal, if there is one."""
        if self._journal is not None:
            self._journal.note(kind, at_s, **fields)

    def notice(self, id: str, text: str, hint: str) -> None:
        """Something that the person should know, once."""
        if id not in self._noticed:
            self._noticed.add(id)
            self.tell(Notice(id, text, hint))

    def tell(self, message: ToTrainer) -> None:
        with self._sending:
            try:
                self._send(message)
            except OSError:
                return  # the trainer is gone; the work goes on

    def _send(self, message: ToTrainer) -> None:
        try:
            self._wire.send(message)
        except UnicodeEncodeError:  # before anything of it was sent
            self._wire.send(sayable_message(message))
