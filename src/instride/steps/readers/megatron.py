"""Megatron-LM and its DeepSpeed forks: `iteration  10/ 1000 | elapsed time per iteration (ms): ..`.

Averages over `log_interval` iterations. Until November 2023 the clock ran on through evaluations
and saves, which are then in the next record; since then it is stopped for them. Since March 2024 a
record begins with the time, which tells the two apart.
"""

from __future__ import annotations

import re
from typing import ClassVar

import msgspec

from instride.steps.clocks import stamp, stamp_before
from instride.steps.model import Dialect, EventKind, Pauses, Sampling
from instride.steps.readers.contract import Reader
from instride.steps.recording import Recording

ITERATION = re.compile(r"iteration +(\d{1,15})/ *\d+ \|")
ELAPSED = re.compile(
    r"elapsed time per iteration \((ms|s)\): (\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|nan|inf) \|"
)
OWN_STAMP = re.compile(r"\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?\] +iteration ")
SAVING = re.compile(r"saving checkpoint at iteration +(\d{1,15})")
LOADING = re.compile(
    r"loading (?:release )?(?:distributed )?checkpoint"
    r"|could not find the metadata file|will not load any checkpoints"
)
VALIDATION = re.compile(r"validation loss at (?:iteration (\d{1,15}))?")
TIMER = re.compile(
    r"(save-checkpoint|evaluate)(?:-non-persistent)? ?\.*: "
    r"\(?(\d+\.\d+)(?:, (\d+\.\d+)\))?"
)


class Megatron(Reader):
    """`successfully saved` is no event: asynchronous saves print it iterations later.

    Nor is the deletion of an old checkpoint, which another thread or process does.
    """

    dialect: ClassVar = Dialect(
        name="megatron",
        title="Megatron-LM",
        sample=" [2026-01-02 03:04:05.678901] iteration       10/    1000 | consumed samples:     "
        "    2560 | elapsed time per iteration (ms): 1380.6 | learning rate: 1.500000E-04 |",
        pauses=Pauses.NEXT,
        sampling=Sampling.AVERAGE,
    )

    def __init__(self, log: Recording) -> None:
        super().__init__(log)
        log.run.clock_resolution_s = 1.0
        self._is_launched = False
        """Whether the process was announced that the next record belongs to."""
        self._is_initialized = False
        self._saving: int | None = None
        self._evaluated_s: float | None = None

    @staticmethod
    def sniff(line: str) -> bool:
        if "elapsed time per iteration (" not in line:
            return False
        found = ITERATION.search(line)
        if found is None or ELAPSED.search(line, found.end()) is None:
            return False
        return "samples/sec: " not in line[: found.start()]

    def feed(self, number: int, line: str) -> None:
        if "elapsed time per iteration (" in line:
            self._record(number, line)
        elif line.startswith("time (ms)"):
            if "save-checkpoint" in line:
                self._timer(number, line)
        elif "checkpoint" in line:
            self._checkpoint(number, line)
        elif "validation loss at " in line:
            self._validation(number, line)
        elif "] datetime: " in line:
            self._datetime(number, line)
        elif "using world size: " in line:
            self._launch(number, stamp(line), is_again=self._is_initialized)
        elif "evaluate " in line:
            self._timer(number, line)

    def _record(self, number: int, line: str) -> None:
        iteration = ITERATION.search(line)
        elapsed = ELAPSED.search(line, iteration.end()) if iteration else None
        if iteration is None or elapsed is None:
            return
        seconds = float(elapsed[2]) / (1e3 if elapsed[1] == "ms" else 1.0)
        wall = stamp_before(line, iteration.start())
        if wall is not None:
            self._note_clock(line, wall)
        self.log.step(int(iteration[1]), number, seconds, wall)
        self._is_launched = self._is_initialized = False
        self._saving = self._evaluated_s = None

    def _note_clock(self, line: str, wall: float) -> None:
        run = self.log.run
        if wall % 1:
            run.clock_resolution_s = 0.0
        if run.dialect.pauses is Pauses.NEXT and OWN_STAMP.search(line):
            run.dialect = msgspec.structs.replace(run.dialect, pauses=Pauses.NONE)

    def _timer(self, number: int, line: str) -> None:
        """`time (ms) | save-checkpoint: 12.3`, or the newer `save-checkpoint ...: (12.3, 12.4)`."""
        found = TIMER.search(line)
        if found is None:
            return
        seconds = float(found[3] or found[2]) / 1e3
        if found[1] == "evaluate":
            self._evaluated_s = (self._evaluated_s or 0.0) + seconds
        elif self._saving is not None:
            self.log.event(EventKind.SAVE, number, seconds, step=self._saving)

    def _checkpoint(self, number: int, line: str) -> None:
        if found := SAVING.search(line):
            wall = stamp(line)
            self._saving = int(found[1])
            self.log.event(EventKind.SAVE, number, wall=wall, step=self._saving)
            self.log.clock(wall, number)
        elif LOADING.search(line):
            self.log.event(EventKind.LOAD, number, wall=stamp(line))
        elif "save-checkpoint" in line:
            self._timer(number, line)
        elif "successfully saved" in line:
            self.log.clock(stamp(line), number)

    def _validation(self, number: int, line: str) -> None:
        found = VALIDATION.search(line)
        step = int(found[1]) if found and found[1] else None
        self.log.event(EventKind.EVAL, number, self._evaluated_s, stamp(line), step)

    def _datetime(self, number: int, line: str) -> None:
        wall = stamp(line)
        if "[after megatron is initialized]" in line:
            self._launch(number, wall)
            self._is_initialized = True
        self.log.clock(wall, number)

    def _launch(self, number: int, wall: float | None, is_again: bool = False) -> None:
        """All ranks may print the banner; one that comes after the initialization is another's."""
        if not self._is_launched or is_again:
            self.log.event(EventKind.START, number, wall=wall)
            self._is_initialized = False
        self._is_launched = True
