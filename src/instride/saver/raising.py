"""`on_error="raise"`: what became of a save is raised by the next one, as soon as it is known."""

from __future__ import annotations

from typing import Literal

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
        known = [each for each in self._open if each.done]
        self._open = [each for each in self._open if not each.done]
        for each in known:
            if each.error is not None and not (each.is_skipped and self._skips):
                raise each.error
