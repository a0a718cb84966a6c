"""Telling the person, once for each kind of trouble."""

from __future__ import annotations

import sys
import threading
import warnings

from instride.errors import InstrideError

PACKAGE = __name__.partition(".")[0]


class Telling:
    """Warns once for each kind of trouble; the journal has every time."""

    def __init__(self) -> None:
        self._told: set[str] = set()
        self._training_thread = threading.get_ident()

    def of(self, error: InstrideError) -> None:
        kind = f"{type(error).__name__} {error.message_name} {error.facts.get('why')}"
        self.once(kind, f"{error}\n\nhint: {error.hint}")

    def of_unsafe(self, names: list[str], path: object) -> None:
        self.once(
            f"unsafe {names}",
            f"`torch.load(weights_only=True)` will refuse `{path}` because of "
            f"{', '.join(names)}, and so will `saver.restore()`; it is saved all the same\n\n"
            "hint: save numbers, strings and tensors instead; `saver.restore(weights_only=False)` "
            "takes it, from files that you trust",
        )

    def once(self, kind: str, text: str) -> None:
        if kind in self._told:
            return
        self._told.add(kind)
        try:
            warnings.warn(f"instride: {text}", RuntimeWarning, stacklevel=_level_outside())
        except RuntimeWarning:
            # Who turns warnings into errors means the thread that trains; ours have to go on.
            if threading.get_ident() == self._training_thread:
                raise


def _level_outside() -> int:
    """How far up the first frame is that is not ours: the line of the script that saves."""
    level = 1
    frame = sys._getframe(level)
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == PACKAGE:
        frame = frame.f_back
        level += 1
    return level
