"""Caffe: `I0523 12:00:01.123456  1234 solver.cpp:228] Iteration 500, loss = 8.89`, by glog.

Later versions tell the time of the iterations since the last line, tests and snapshots included:
`Iteration 500 (1.19656 iter/s, 417.864s/500 iters), loss = 8.89`.
"""

from __future__ import annotations

import re
from typing import ClassVar, NamedTuple

from instride.steps.model import Dialect, EventKind, Pauses, Sampling
from instride.steps.readers.stamped_reader import StampedReader
from instride.steps.recording import Recording

RECORD = re.compile(
    r"Iteration (\d{1,15})"
    r"(?: \([^ ]{1,20} iter/s, (\d{1,9}(?:\.\d{1,9})?)s/(\d{1,9}) iters?\))?"
    r"(?:, [\d.]{1,20}/[\d.]{1,20}ep)?, loss = "
)
TESTING = re.compile(r"Iteration \d{1,15}, Testing net")
SNAPSHOT = re.compile(r"Snapshotting (?:to|solver state to) .{0,400}?_iter_(\d{1,15})\.")


class Snapshot(NamedTuple):
    step: int
    line: int
    begin: float | None
    last: float | None
    """The last sign of life while it was written."""


class Caffe(StampedReader):
    """Iteration N is printed when its gradients are there. A test at N and a snapshot after N
    iterations come just before that. The last snapshot has no line of its iteration any more, but
    tells that all of them are done.
    """

    hears_torch: ClassVar = False
    dialect: ClassVar = Dialect(
        name="caffe",
        title="Caffe",
        sample="I0523 12:00:01.123456  1234 solver.cpp:228] Iteration 500, loss = 8.89619",
        pauses=Pauses.SAME,
        sampling=Sampling.AVERAGE,
    )
    markers: ClassVar = {
        "Initializing solver from parameters": EventKind.START,
        "Restoring previous solver status": EventKind.LOAD,
        "Resuming from ": EventKind.LOAD,
        "Finetuning from ": EventKind.LOAD,
        "Optimization Done.": EventKind.END,
    }

    def __init__(self, log: Recording) -> None:
        super().__init__(log)
        self._snapshot: Snapshot | None = None
        self._testing_since: float | None = None
        self._last_step = -1

    @staticmethod
    def sniff(line: str) -> bool:
        return "Iteration " in line and RECORD.search(line) is not None

    def feed(self, number: int, line: str) -> None:
        if "Iteration " in line:
            if found := RECORD.search(line):
                self._record(number, line, found)
            elif found := TESTING.search(line):
                self._test(number, self.wall(line, found.start()))
        elif " net output #" in line:
            if "Test net output #" in line:
                self._tested(number, line)
        elif "Snapshotting " in line:
            if found := SNAPSHOT.search(line):
                self._snap(number, line, found)
        elif found_marker := self.marked(line):
            kind, where = found_marker
            if kind in (EventKind.START, EventKind.END):
                self._close()
            self.tell(kind, number, self.wall(line, where))

    def _record(self, number: int, line: str, found: re.Match[str]) -> None:
        step, wall = int(found[1]), self.wall(line, found.start())
        seconds = None
        if found[2]:
            # The first line has one iteration behind it, whatever it says.
            seconds = float(found[2]) / (max(1, int(found[3])) if step else 1)
        self._tell_snapshot(None)
        self.log.step(step, number, seconds, wall)
        self._last_step, self._testing_since = step, None

    def _test(self, number: int, wall: float | None) -> None:
        self._tell_snapshot(wall)
        self._testing_since = self._testing_since or wall
        self.log.event(EventKind.EVAL, number, wall=wall)
        self.log.clock(wall, number)

    def _tested(self, number: int, line: str) -> None:
        """Results are printed when a test is over."""
        since = self._testing_since
        if since is not None and (wall := self.wall(line, line.find("Test net"))) is not None:
            self.log.event(EventKind.EVAL, number, wall - since, wall)
            self.log.clock(wall, number)

    def _snap(self, number: int, line: str, found: re.Match[str]) -> None:
        wall = self.wall(line, found.start())
        if self._snapshot is None:
            self._snapshot = Snapshot(int(found[1]), number, wall, wall)
        else:
            self._snapshot = self._snapshot._replace(last=wall)

    def _tell_snapshot(self, end: float | None) -> None:
        """Record the save before this line; `end` is when it was over, if that is known."""
        snapshot, self._snapshot = self._snapshot, None
        if snapshot is None:
            return
        seconds = None
        if end is not None and snapshot.begin is not None:
            seconds = end - snapshot.begin
        self.log.event(EventKind.SAVE, snapshot.line, seconds, snapshot.begin, snapshot.step)
        self.log.clock(snapshot.last, snapshot.line)

    def _close(self) -> None:
        """The training is over: what it did last has no line of its own."""
        snapshot = self._snapshot
        if snapshot is not None and snapshot.step > self._last_step:
            self.log.step(snapshot.step, snapshot.line, wall=snapshot.begin)
        self._tell_snapshot(None)
        self._last_step, self._testing_since = -1, None

    def finish(self) -> None:
        self._close()
        super().finish()
