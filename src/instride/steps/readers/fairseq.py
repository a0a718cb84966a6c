"""fairseq and metaseq: `train_inner | epoch 001:   2800 / 160368 loss=.., wps=.., .., wall=1236`.

Every `log_interval` updates; as JSON with `--log-format json`. Words a second and words a batch are
those of the interval, so that their ratio is the average time of its updates; versions without
`train_inner` print averages since the start, of which nothing is used but `wall`.
"""

from __future__ import annotations

import re
from typing import ClassVar

from instride.steps.clocks import stamp, stamp_before
from instride.steps.model import Dialect, EventKind, Pauses, Sampling
from instride.steps.readers.contract import Reader
from instride.steps.readers.fields import number_after
from instride.steps.readers.stamped_events import mark, mark_start_once
from instride.steps.recording import Recording

TEXT = re.compile(r"epoch (\d{1,6}): {1,8}(\d{1,12}) / (\d{1,12}) ")
SAVED = re.compile(
    r"[Ss]aved checkpoint [^ ]{1,500} \(epoch \d{1,9} @ (\d{1,12}) updates[^)]{0,80}\) "
    r"\(writing took (\d{1,9}(?:\.\d{1,20})?) seconds"
)
SAVING = re.compile(r"Preparing to save checkpoint for epoch \d{1,9} @ (\d{1,12}) updates")
LAUNCH = re.compile(
    r"fairseq_cli\.train \| (?:Namespace\(|\{')|training on \d{1,6} (?:devices|GPUs)"
)
LOADED = re.compile(r"[Ll]oaded checkpoint [^ ]{1,500} \(epoch |No existing checkpoint found")


class Fairseq(Reader):
    """The clock of an interval runs on through the evaluation and the save before it."""

    dialect: ClassVar = Dialect(
        name="fairseq",
        title="fairseq, metaseq",
        sample="2026-01-02 03:04:05 | INFO | train_inner | epoch 001:    200 / 1605 loss=11.2, "
        "ppl=2353.1, wps=51200.4, ups=2.0, wpb=25600.2, bsz=812.5, num_updates=200, lr=2.5e-05, "
        "gnorm=1.9, train_wall=50, wall=112",
        pauses=Pauses.NEXT,
        sampling=Sampling.AVERAGE,
    )

    def __init__(self, log: Recording) -> None:
        super().__init__(log)
        log.run.clock_resolution_s = 1.0
        self._has_stamps: bool | None = None
        self._is_starting = True

    @staticmethod
    def sniff(line: str) -> bool:
        if "wall=" in line:
            return TEXT.search(line) is not None and "loss=" in line
        return '"wall": ' in line and '"update": ' in line and '"num_updates": ' in line

    def feed(self, number: int, line: str) -> None:
        if "wall=" in line or '"wall": ' in line:
            self._record(number, line)
        elif "heckpoint" in line:
            self._checkpoint(number, line)
        elif "begin validation on" in line or "valid on '" in line or '"valid_loss": ' in line:
            mark(self.log, EventKind.EVAL, number, line, line.find("valid"))
        elif "begin training epoch" in line:
            mark(self.log, EventKind.EPOCH, number, line, line.find("begin "))
        elif "done training in " in line:
            mark(self.log, EventKind.END, number, line, line.find("done "))
        elif ("fairseq_cli" in line or "training on " in line) and (found := LAUNCH.search(line)):
            mark_start_once(self.log, number, line, found.start())
            self._is_starting = True
        elif self._is_starting:
            self.log.clock(stamp(line[:200]), number)

    def _record(self, number: int, line: str) -> None:
        place = TEXT.search(line)
        # A comma before the name tells `wall` from `train_wall`.
        before, after = (", ", "=") if place else ('"', '": "')
        begin = place.start() if place else line.find("{")
        step = _step(place, number_after(line, f"{before}num_updates{after}", begin))
        since_start = number_after(line, f"{before}wall{after}", begin)
        if step is None or since_start is None:
            return
        words = number_after(line, f"{before}wpb{after}", begin)
        words_a_second = number_after(line, f"{before}wps{after}", begin)
        seconds = None
        if words and words_a_second and "train_inner" in line:
            seconds = words / words_a_second
        self.log.step(step, number, seconds, self._wall(line, begin, since_start))
        self._is_starting = False

    def _wall(self, line: str, begin: int, since_start: float) -> float | None:
        """The timestamp; in a log without timestamps, the seconds since the process began."""
        wall = stamp_before(line, begin)
        if self._has_stamps is None:
            self._has_stamps = wall is not None
            self.log.run.clock_is_absolute = self._has_stamps
        return wall if self._has_stamps else since_start

    def _checkpoint(self, number: int, line: str) -> None:
        if found := SAVED.search(line):
            step, seconds = int(found[1]), float(found[2])
            mark(self.log, EventKind.SAVE, number, line, found.start(), step, seconds)
        elif found := SAVING.search(line):
            mark(self.log, EventKind.SAVE, number, line, found.start(), int(found[1]))
        elif found := LOADED.search(line):
            mark(self.log, EventKind.LOAD, number, line, found.start())


def _step(place: re.Match[str] | None, num_updates: float | None) -> int | None:
    """The number of updates; from 1000000 on, six digits of it are printed (`1.0001e+06`)."""
    if num_updates is not None:
        return int(num_updates) if num_updates < 1e15 else None
    if place is None:
        return None
    return (int(place[1]) - 1) * int(place[3]) + int(place[2])
