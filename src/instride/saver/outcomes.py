"""What became of the saves of an engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from instride.errors import InstrideError, SaveSkippedError
from instride.saver.pending import Pending, failing
from instride.saver.telling import Telling
from instride.snapshot.copying import WriterGoneError


class Outcomes:
    """Of what was handed over last, and of what was to be saved after it."""

    def __init__(self, telling: Telling) -> None:
        self._telling = telling
        self.last: Pending | None = None
        """What was handed over last."""
        self.failed: InstrideError | None = None
        """Why what was to be saved after it was not even handed over."""
        self._num_skipped = 0
        self._last_skipped: Path | None = None

    @contextmanager
    def of(self, pending: Pending) -> Iterator[None]:
        """While its snapshot is taken. Where the writer is gone, the courier has answered."""
        with failing(pending, partial(self._fail, pending)), suppress(WriterGoneError):
            yield

    def _fail(self, pending: Pending, error: InstrideError) -> None:
        """It was not even handed over."""
        pending.is_skipped = isinstance(error, SaveSkippedError)
        pending.fail(error)
        self.failed = None if pending.is_skipped else error
        if pending.is_skipped:
            self._num_skipped, self._last_skipped = self._num_skipped + 1, pending.path
        self._telling.of(error)

    def handed_over(self, pending: Pending) -> None:
        self.last, self.failed, self._num_skipped = pending, None, 0

    def at_end(self, trouble: InstrideError | None) -> InstrideError | None:
        """What to raise, where the last one that was handed over had that trouble, or none."""
        if trouble is not None and self._num_skipped:
            trouble.add_note(
                f"skipped behind it: {self._num_skipped}, the last of them `{self._last_skipped}`"
            )
        return trouble or self.failed
