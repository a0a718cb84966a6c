"""`on_error="raise"`: what became of a save is raised by the next one, as soon as it is known."""

from __future__ import annotations

from typing import Literal

from instride.errors import InstrideError, SaveSkippedError
from instride.saver.pending import Pending


class Raising:
    """Saves that are still to be raised, should they fail. Where nobody wants that, none are."""

    def __init__(
        self, on_error: Literal["warn", "raise"], when_busy: Literal["wait", "skip"]
    ) -> None:
        self.is_wanted = on_error == "raise"
        self._skips = when_busy == "skip"
        self._open: list[Pending] = []

    def watch(self, pending: Pending) -> None:
        if self.is_wanted:
            self._open.append(pending)

    def raise_failed(self) -> None:
        """Each once, also one of which it was not known yet when the save behind it began. To be
        skipped is no failure where that was asked for."""
        for each in [each for each in self._open if each.done]:
            self._open.remove(each)
            if each.error is not None and not (self._skips and _was_busy(each.error)):
                raise each.error


def _was_busy(error: InstrideError) -> bool:
    """Whether it came too soon; on a full disk there is no end to that."""
    return isinstance(error, SaveSkippedError) and not error.is_full
