"""What became of the saves of an engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from instride.errors import (
    InstrideError,
    SaveFailedError,
    SaveSkippedError,
    UnsafeStateError,
)
from instride.saver.pending import Pending
from instride.saver.telling import Telling
from instride.snapshot.copying import WriterGoneError


class Outcomes:
    """Of what was handed over last, and of what was to be saved after it."""

    def __init__(self, telling: Telling) -> None:
        self._telling = telling
        self.last: Pending | None = None
        """What was handed over last."""
        self._failed: InstrideError | None = None
        self._num_skipped = 0
        self._last_skipped: Path | None = None

    @contextmanager
    def of(self, pending: Pending) -> Iterator[None]:
        """What is raised while a snapshot is taken is what became of it, and ends no training; but
        for what somebody asked to be refused, and what comes from outside."""
        try:
            yield
        except UnsafeStateError as error:
            pending.fail(error)
            raise
        except InstrideError as error:
            self._fail(pending, error)
        except WriterGoneError:
            pass  # the courier has answered the letter
        except Exception as error:  # what a class does when it is pickled is its own affair
            self._fail(pending, SaveFailedError.of(pending.path, error))
        except BaseException:
            pending.fail(SaveFailedError(pending.path, "it was interrupted"))
            raise

    def _fail(self, pending: Pending, error: InstrideError) -> None:
        """It was not even handed over."""
        pending.is_skipped = isinstance(error, SaveSkippedError)
        pending.fail(error)
        self._failed = None if pending.is_skipped else error
        if pending.is_skipped:
            self._num_skipped, self._last_skipped = self._num_skipped + 1, pending.path
        self._telling.of(error)

    def handed_over(self, pending: Pending) -> None:
        self.last, self._failed, self._num_skipped = pending, None, 0

    def at_end(self, trouble: InstrideError | None) -> InstrideError | None:
        """What to raise, where the last one that was handed over had that trouble, or none."""
        if trouble is not None and self._num_skipped:
            trouble.add_note(
                f"skipped behind it: {self._num_skipped}, the last of them `{self._last_skipped}`"
            )
        return trouble or self._failed
