"""What became of the saves of an engine, as far as its end has to tell."""

from __future__ import annotations

from instride.errors import InstrideError, SaveSkippedError
from instride.saver.pending import Pending


class Outcomes:
    """Of what was handed over last, and of what was to be saved after it."""

    def __init__(self) -> None:
        self.last: Pending | None = None
        """What was handed over last."""
        self._failed: InstrideError | None = None
        self._skipped: list[Pending] = []

    def handed_over(self, pending: Pending) -> None:
        self.last, self._failed = pending, None
        self._skipped.clear()

    def failed(self, pending: Pending, error: InstrideError) -> None:
        """It was not even handed over."""
        pending.is_skipped = isinstance(error, SaveSkippedError)
        pending.fail(error)
        self._failed = None if pending.is_skipped else error
        if pending.is_skipped:
            self._skipped.append(pending)

    def at_end(self, trouble: InstrideError | None) -> InstrideError | None:
        """What to raise, where the last one that was handed over had that trouble, or none."""
        if trouble is not None and self._skipped:
            path = self._skipped[-1].path
            trouble.add_note(f"skipped behind it: {len(self._skipped)}, the last of them `{path}`")
        return trouble or self._failed
