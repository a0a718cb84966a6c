"""MaxText: `completed step: 10, seconds: 13.360, TFLOP/s/device: 120.1, Tokens/s/device: ..`."""

from __future__ import annotations

import re
from typing import ClassVar, NamedTuple

from instride.steps.model import Dialect, EventKind, Pauses, Sampling
from instride.steps.readers.contract import Reader
from instride.steps.readers.orbax import OrbaxSaves
from instride.steps.recording import Recording

RECORD = re.compile(
    r"completed (?:profiler activation/deactivation )?step: (\d{1,15}), "
    r"seconds: (\d{1,12}(?:\.\d{1,9})?|nan|inf), "
)
MARKER = re.compile(
    r"(?:[Ss]aved a checkpoint at step|Started an asynchronous checkpoint save for step)"
    r" (?P<saved>\d{1,15})"
    r"|(?:(?:Starting|Completed) eval after train step|eval metrics after step:)"
    r" (?P<evaluated>\d{1,15})"
    r"|(?P<load>[Rr]estoring (?:from|state from|params from)|[Rr]estored from"
    r"|checkpoint manager exists so|No existing checkpoints found)"
    r"|(?P<launch>Creating checkpoint manager(?:\.{3}| with )|Running Model: "
    r"|Found \d{1,7} devices)"
)
HOSTS_APART = 8
"""Steps: hosts that print into one log are not further apart than this."""


class Held(NamedTuple):
    """An event that waits for the record whose time holds it."""

    kind: EventKind
    line: int
    step: int
    seconds: float | None = None


class MaxText(Reader):
    """The seconds are the time from the end of one step to the end of the next. A line is printed
    one step late, so that what happens after step N stands in the log before the line of N: it is
    held back until the record of the step that comes after it. Times on the lines are late too,
    and are not used: the printed seconds hold everything.
    """

    hears_torch: ClassVar = False
    dialect: ClassVar = Dialect(
        name="maxtext",
        title="MaxText",
        sample="completed step: 10, seconds: 13.360, TFLOP/s/device: 120.118, "
        "Tokens/s/device: 2452.113, total_weights: 65536, loss: 9.112",
        pauses=Pauses.NEXT,
        sampling=Sampling.EVERY_STEP,
    )

    def __init__(self, log: Recording) -> None:
        super().__init__(log)
        self.saves = OrbaxSaves()
        self.held: list[Held] = []
        self._last = -1
        self._launched_at = -1

    @staticmethod
    def sniff(line: str) -> bool:
        return "step: " in line and RECORD.search(line) is not None

    def feed(self, number: int, line: str) -> None:
        if "step: " in line and (found := RECORD.search(line)):
            self._record(number, int(found[1]), float(found[2]))
        elif "step" in line or "check" in line or "sav" in line or "Running" in line:
            self._marker(number, line)

    def finish(self) -> None:
        self._release(None)

    def _record(self, number: int, step: int, seconds: float) -> None:
        if step < self._last - HOSTS_APART:
            # Another process: what is held belongs to the end of the one before.
            self._release(None)
        self._release(step)
        self._last = step
        self.log.step(step, number, seconds)

    def _release(self, step: int | None) -> None:
        """Record what happened before a step; everything, if there is no further one."""
        waiting = []
        for held in self.held:
            if step is None or held.step < step:
                self.log.event(held.kind, held.line, held.seconds, step=held.step)
            else:
                waiting.append(held)
        self.held = waiting

    def _marker(self, number: int, line: str) -> None:
        if (save := self.saves.feed(number, line)) is not None:
            if not save.is_whole and save.step is not None:
                self.held.append(Held(EventKind.SAVE, number, save.step, save.seconds))
            return
        found = MARKER.search(line)
        if found is None:
            return
        if found["saved"]:
            self.held.append(Held(EventKind.SAVE, number, int(found["saved"])))
        elif found["evaluated"]:
            self.held.append(Held(EventKind.EVAL, number, int(found["evaluated"])))
        elif found["launch"]:
            self._launch(number)
        else:
            self.log.event(EventKind.LOAD, number)

    def _launch(self, number: int) -> None:
        """One launch has several such lines, and every host may print them."""
        if self._launched_at != len(self.log.run):
            self._release(None)
            self.log.event(EventKind.START, number)
            self._launched_at, self._last = len(self.log.run), -1
