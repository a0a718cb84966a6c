"""MLPerf: `:::MLLOG {"time_ms": 1759966614209, .., "key": "block_stop", "metadata": {..}}`.

Exact intervals: blocks of training and evaluations between them, counted in samples. A step is a
batch of `global_batch_size` of them; where only epochs are counted, an epoch.
"""

from __future__ import annotations

import re
from typing import ClassVar

import msgspec

from instride.steps.model import Dialect, EventKind, Pauses, Sampling
from instride.steps.readers.contract import Reader
from instride.steps.readers.stamped_reader import is_launched
from instride.steps.recording import Recording

PREFIX = ":::MLLOG "
KEY = re.compile(r'"key": ?"(?:block_stop|epoch_stop|eval_start|train_loss)"')
ADVANCES = frozenset(("block_stop", "epoch_stop", "eval_start", "train_loss"))
"""At these the log tells how far the training is."""
RESUMES = frozenset(("run_start", "block_start", "epoch_start", "eval_stop"))
"""At these the training goes on."""
HIGHEST = 1e15


class Entry(msgspec.Struct):
    time_ms: float
    key: str
    value: object = None
    metadata: dict[str, object] | None = None


class MLPerf(Reader):
    """What a step takes is told by the blocks, from which evaluations are left out."""

    dialect: ClassVar = Dialect(
        name="mlperf",
        title="MLPerf training (MLLOG)",
        sample=':::MLLOG {"namespace": "", "time_ms": 1759966614209, "event_type": "INTERVAL_END", '
        '"key": "block_stop", "value": null, "metadata": {"samples_count": 12288}}',
        pauses=Pauses.NONE,
        sampling=Sampling.AVERAGE,
    )

    def __init__(self, log: Recording) -> None:
        super().__init__(log)
        self._batch_size = 1
        self._last_step = 0
        self._since: float | None = None
        """When the training began or went on, after `_last_step` steps."""
        self._eval_since: float | None = None

    @staticmethod
    def sniff(line: str) -> bool:
        return PREFIX in line and KEY.search(line) is not None

    def feed(self, number: int, line: str) -> None:
        at = line.find(PREFIX)
        if at < 0:
            return
        try:
            entry = msgspec.json.decode(line[at + len(PREFIX) :], type=Entry)
        except (msgspec.MsgspecError, RecursionError):
            return
        if 0 < entry.time_ms < HIGHEST:
            self._take(number, entry, entry.time_ms / 1e3)

    def _take(self, number: int, entry: Entry, wall: float) -> None:
        key = entry.key
        if key in ADVANCES:
            self._advance(number, entry, wall)
        if key == "eval_start":
            self._eval_since = wall
            self.log.event(EventKind.EVAL, number, wall=wall)
        elif key == "eval_stop":
            if self._eval_since is not None:
                self.log.event(EventKind.EVAL, number, wall - self._eval_since, wall)
        elif key == "init_start":
            self._launch(number, wall)
        elif key == "run_stop":
            self.log.event(EventKind.END, number, wall=wall)
        elif key == "global_batch_size":
            self._batch_size = int(_number(entry.value) or 1)
        if key in RESUMES:
            self._since = wall
            self._last_step = max(self._last_step, self._num_batches(entry) or 0)
        self.log.clock(wall, number)

    def _launch(self, number: int, wall: float) -> None:
        if not is_launched(self.log):
            self.log.event(EventKind.START, number, wall=wall)
            self._last_step, self._since, self._eval_since = 0, None, None

    def _advance(self, number: int, entry: Entry, wall: float) -> None:
        """Record how far the training is, if that is further than before."""
        step = self._step(entry)
        if step is None or step <= self._last_step:
            return
        seconds = None
        if self._since is not None:
            seconds = (wall - self._since) / (step - self._last_step)
        self.log.step(step, number, seconds, wall)
        self._last_step, self._since = step, wall

    def _step(self, entry: Entry) -> int | None:
        batches = self._num_batches(entry)
        epoch = _number((entry.metadata or {}).get("epoch_num"))
        if batches is not None or epoch is None or not epoch.is_integer():
            return batches
        return int(epoch)

    def _num_batches(self, entry: Entry) -> int | None:
        samples = _number((entry.metadata or {}).get("samples_count"))
        return None if samples is None else int(samples) // self._batch_size


def _number(value: object) -> float | None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    return float(value) if 0 <= value < HIGHEST else None
