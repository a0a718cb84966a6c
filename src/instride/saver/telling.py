"""Telling the person, once for each kind of trouble."""

from __future__ import annotations

import sys
import threading
import warnings
from types import FrameType
from typing import Any, NamedTuple

from instride.errors import InstrideError, SaveSkippedError

NOT_THEIRS = ("instride", "torch", "threading", "contextlib", "weakref", "importlib")
"""Packages through which we are called: none of their lines tells anybody what to change."""


class Place(NamedTuple):
    """A line of the program that saves."""

    path: str
    line: int
    module: str


_shown: dict[str | tuple[str, type[Warning], int], Any] = {}
"""Where Python notes what it has shown already: another Saver of the same line is not told anew."""


class Telling:
    """Warns once for each kind of trouble, of failed saves until one has worked; the journal has
    every time.

    A warning points to the line that saved, where it is about a save; else to the one that called,
    or to the one that made this where nobody called: in threads of ours, and at the end of the
    program.
    """

    def __init__(self) -> None:
        self._told: set[str] = set()
        self._failed: set[str] = set()
        """Those of saves that failed since the last one that did not."""
        self._made_at = place_outside() or Place(__file__, 1, __name__)
        self._training_thread = threading.get_ident()

    def of(self, error: InstrideError, saved_at: Place | None = None) -> None:
        kind = f"{type(error).__name__} {error.message_name} {error.facts.get('why')}"
        if not isinstance(error, SaveSkippedError):  # of these there may be many, in turn
            self._failed.add(kind)
        self.once(kind, f"{error}\n\nhint: {error.hint}", saved_at)

    def it_works(self) -> None:
        """A save has been committed: what fails from here on is told anew."""
        failed, self._failed = self._failed, set()
        self._told -= failed

    def of_unsafe(self, names: list[str], path: object, saved_at: Place | None) -> None:
        self.once(
            f"unsafe {names}",
            f"`torch.load(weights_only=True)` will refuse `{path}` because of "
            f"{', '.join(names)}, and so will `restore()` and `instride.load()`; it is saved all "
            "the same\n\nhint: save numbers, strings and tensors instead; with "
            "`weights_only=False` both take it, from files that you trust",
            saved_at,
        )

    def once(self, kind: str, text: str, saved_at: Place | None = None) -> None:
        if kind in self._told:
            return
        self._told.add(kind)
        path, line, module = saved_at or place_outside() or self._made_at
        said = f"instride: {text}"
        try:
            warnings.warn_explicit(said, RuntimeWarning, path, line, module, _shown)
        except RuntimeWarning:
            # Who turns warnings into errors means the thread that trains; ours have to go on.
            if threading.get_ident() == self._training_thread:
                raise
        except Exception:
            # It cannot be shown: a log that was closed, a full disk, a `showwarning` that fails.
            # None of that may end a training, or a thread of ours.
            return


def place_outside() -> Place | None:
    """The nearest line that is the program's own; None where there is none up to the start of the
    thread."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.partition(".")[0] not in NOT_THEIRS:
            return Place(frame.f_code.co_filename, frame.f_lineno, module)
        frame = frame.f_back
    return None
