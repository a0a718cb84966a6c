"""TorchTitan: `step: 2520  loss:  3.28  ...  tps: 1,053  tflops: ..`, every `log_freq` steps.

A record names tokens a second, not a time. How many tokens a step has is not printed, but the
timestamps tell it: on quiet intervals, rate x time between two records is the same number again and
again. The first interval of a process, and those where the trainer stopped its clock, then get
their durations from the rate.
"""

from __future__ import annotations

import re
from itertools import pairwise
from math import isnan
from statistics import median
from typing import ClassVar

from instride.steps.clocks import stamp, stamp_before
from instride.steps.model import MISSING, Dialect, EventKind, Pauses, Run, Sampling
from instride.steps.readers.contract import Reader
from instride.steps.recording import Recording

RECORD = re.compile(r"step: +(\d{1,15})  +loss: ")
RATE = re.compile(r"[tw]ps: +(\d[\d,]*)(?: |$)")
VALIDATE = "validate "
MESSAGE = "INFO - "
MARKER = re.compile(
    r"(?P<saving>S(?:aving|taging) the checkpoint|Saving a )"
    r"|(?:Finished (?:sav|stag)ing the checkpoint.{0,60}?in |Last step checkpoint completed in )"
    r"(?P<saved>\d+\.\d+)"
    r"|Checkpointer waited staging (?P<waited>\d+\.\d+)"
    r"|(?P<deleting>Deleting old checkpoint)"
    r"|(?P<loading>Loading the checkpoint )"
    r"|Finished loading the checkpoint in (?P<loaded>\d+\.\d+)"
    r"|(?P<launch>torchtitan version|Starting job|Building (?:\d-D )?device mesh)"
    r"|Training starts at step (?P<begin>\d{1,15})"
    r"|(?P<end>Training completed|Process group destroyed)"
)
RELAUNCH_S = 5.0
"""Ranks print a banner within this time of each other; a process takes longer to come back."""
ENOUGH = 3
"""Quiet intervals that a calibration needs."""
TOLERANCE, AGREEING = 0.05, 0.8
"""This share of the quiet intervals must agree so closely on the tokens of a step."""

MOST_SAMPLES = 20_000
"""Records that the tokens a step are learnt from, at most."""


class TorchTitan(Reader):
    """The clock behind `tps` runs from record to record and is started anew by a validation.

    A save happens after the record of its step, so that it slows the next one. Old checkpoints are
    deleted by a thread (`Checkpointer deleted`, no event) since 2025, in the loop before that. The
    clock of the first record of a process is started while the trainer is still being built, so
    that loading a checkpoint is in it.
    """

    dialect: ClassVar = Dialect(
        name="torchtitan",
        title="torchtitan",
        sample="[titan] 2026-01-02 03:04:05,678 - root - INFO - step: 20  loss:  7.1234  "
        "grad_norm:  1.2345  memory: 40.12GiB(50.20%)  tps: 8,123  tflops: 400.10  mfu: 40.45%",
        pauses=Pauses.NEXT,
        sampling=Sampling.AVERAGE,
    )

    def __init__(self, log: Recording) -> None:
        super().__init__(log)
        self._last_step: int | None = None
        self._idle_since: float | None = None
        """When the training thread was last seen done with something, after the last record."""
        self._is_starting = True
        self._banner = ""
        """What announced the process that has no record yet."""
        self._banner_wall: float | None = None
        self._is_saving = False
        self._saved_s = 0.0

    @staticmethod
    def sniff(line: str) -> bool:
        if "ps: " not in line or (found := RECORD.search(line)) is None:
            return False
        return not _is_validation(line, found) and _rate(line, found.end()) is not None

    def feed(self, number: int, line: str) -> None:
        if "step: " in line and (found := RECORD.search(line)):
            wall = stamp_before(line, found.start())
            if _is_validation(line, found):
                self._validation(number, int(found[1]), wall)
            else:
                rate = _rate(line, found.end())
                tokens_a_second = float(rate[1].replace(",", "")) if rate else 0.0
                self._record(number, int(found[1]), tokens_a_second, wall)
        elif (at := line.find(MESSAGE)) >= 0:
            if found := MARKER.match(line, at + len(MESSAGE)):
                self._marker(number, found, stamp(line))
            elif self._is_starting:
                self.log.clock(stamp(line), number)

    def finish(self) -> None:
        _rates_to_seconds(self.log.run)

    def _record(self, number: int, step: int, rate: float, wall: float | None) -> None:
        # The column of durations holds rates until the end: what drops the lines of other ranks
        # keeps it in step with the rest.
        self.log.step(step, number, rate or None, wall)
        self._last_step, self._idle_since = step, wall
        self._is_starting = self._is_saving = False
        self._banner, self._saved_s = "", 0.0

    def _validation(self, number: int, step: int, wall: float | None) -> None:
        seconds = None
        if wall is not None and self._idle_since is not None and step == self._last_step:
            seconds = wall - self._idle_since
        self.log.event(EventKind.EVAL, number, seconds, wall, step)
        self.log.clock(wall, number)
        self._idle_since = wall

    def _marker(self, number: int, found: re.Match[str], wall: float | None) -> None:
        kind = found.lastgroup or ""
        if kind == "launch":
            self._launch(number, found[0], wall)
        elif kind == "begin":
            self._launch(number, "Training starts", wall, int(found["begin"]))
        elif kind in ("loading", "loaded"):
            seconds = float(found["loaded"]) if kind == "loaded" else None
            self.log.event(EventKind.LOAD, number, seconds, wall)
        elif kind == "deleting":
            self.log.event(EventKind.CLEANUP, number, wall=wall)
        elif kind != "end":
            self._save(number, kind, found, wall)
        self.log.clock(wall, number)

    def _save(self, number: int, kind: str, found: re.Match[str], wall: float | None) -> None:
        """Saves between two records add up; what another rank says of the same save does not."""
        if kind == "saving":
            self._is_saving = True
            self.log.event(EventKind.SAVE, number, wall=wall)
            return
        seconds = float(found[kind])
        if self._is_saving or kind == "waited":
            self._saved_s += seconds
        else:
            self._saved_s = max(self._saved_s, seconds)
        self._is_saving = False
        self.log.event(EventKind.SAVE, number, self._saved_s, wall)
        if self._idle_since is not None:
            self._idle_since = wall

    def _launch(
        self, number: int, banner: str, wall: float | None, step: int | None = None
    ) -> None:
        """Several lines announce a process; the first one counts, unless it comes again later."""
        if self._banner:
            if banner != self._banner or wall is None or self._banner_wall is None:
                return
            if wall - self._banner_wall < RELAUNCH_S:
                return
        self.log.event(EventKind.START, number, wall=wall, step=step)
        self._banner, self._banner_wall = banner, wall
        self._is_starting, self._idle_since = True, None


def _rate(line: str, after: int) -> re.Match[str] | None:
    # Most of a record stands before it, which `find` passes over faster.
    return RATE.search(line, max(after, line.find("ps: ", after) - 1))


def _is_validation(line: str, found: re.Match[str]) -> bool:
    return line.endswith(VALIDATE, 0, found.start())


def _rates_to_seconds(run: Run) -> None:
    """Turn the rates in the column of durations into seconds a step, each process on its own."""
    starts = sorted({event.at for event in run.events if event.kind is EventKind.START})
    bounds = [0, *(at for at in starts if 0 < at < len(run)), len(run)]
    disturbed = {event.at for event in run.events}
    common = _agreed(_tokens_of_quiet_steps(run, disturbed, 0, len(run)))
    for first, end in pairwise(bounds):
        own = _agreed(_tokens_of_quiet_steps(run, disturbed, first, end))
        tokens_a_step = own or common or MISSING
        for index in range(first, end if run.seconds else first):
            rate = run.seconds[index]
            run.seconds[index] = tokens_a_step / rate if rate else MISSING


def _tokens_of_quiet_steps(run: Run, disturbed: set[int], first: int, end: int) -> list[float]:
    """Tokens a step by rate and clock, from a sample of records that no marker disturbs."""
    tokens = []
    for index in range(first + 1, end, 1 + (end - first) // MOST_SAMPLES):
        num_steps = run.step[index] - run.step[index - 1]
        elapsed = run.wall_at(index) - run.wall_at(index - 1)
        if num_steps > 0 and elapsed > 0 and index not in disturbed:
            value = run.seconds_at(index) * elapsed / num_steps
            if not isnan(value):
                tokens.append(value)
    return tokens


def _agreed(values: list[float]) -> float | None:
    if len(values) < ENOUGH:
        return None
    middle = median(values)
    close = sum(abs(value - middle) <= TOLERANCE * middle for value in values)
    return middle if close >= AGREEING * len(values) else None
