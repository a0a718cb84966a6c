"""All that the governor sees of a training, the best sign first: its steps, its processes, the
GPUs, and how busy the machine is without us."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from instride.governor.gauge import Look, busy_cores_of_others, look
from instride.governor.gpu import BUSY as BUSY_GPU
from instride.governor.gpu import Busyness, GpuSteps
from instride.governor.middle import median_of
from instride.governor.model import Step, StepSource, Training

REMEMBERED_SPANS = 32
MISSED_STEPS, LEAST_SILENCE_S = 5, 10.0
"""Steps that stay away so long have stopped: so many of them, and so many seconds."""
BUSY_CORES = 0.5
QUIET_S = 5.0
"""How long the machine must be watched before it counts as quiet."""


class Beats(Protocol):
    """The shared page of a `Saver`, as far as it is read here."""

    @property
    def num_beats(self) -> int: ...
    def beats_since(self, seen: int, num_beats: int) -> list[tuple[int, float]]: ...


class PageSteps:
    """Steps from the beats that a training writes into shared memory: exact, and at once."""

    resolution_s = 0.0

    def __init__(self, beats: Beats) -> None:
        self._beats = beats
        self._seen = 0
        self._last_s: float | None = None

    def read(self, now_s: float) -> list[Step]:
        num_beats = self._beats.num_beats
        steps: list[Step] = []
        for _, at_s in self._beats.beats_since(self._seen, num_beats):
            if self._last_s is not None and at_s > self._last_s:
                steps.append(Step(at_s, at_s - self._last_s, at_s - self._last_s))
            self._last_s = at_s
        self._seen = num_beats
        return steps


class _Quiet(msgspec.Struct):
    since: Look
    busy_cores: float | None = None


class Signals:
    """`trainer_pids` gives the processes of the training, or None where they are not known.

    Without a source of steps, those that a GPU computes for stand for them.
    """

    def __init__(
        self,
        steps: StepSource | None = None,
        trainer_pids: Callable[[], Sequence[int] | None] | None = None,
        gpu: Busyness | None = None,
    ) -> None:
        self._source = GpuSteps(gpu) if steps is None and gpu is not None else steps
        self._trainer_pids = trainer_pids
        self._gpu = gpu
        self._spans: deque[float] = deque(maxlen=REMEMBERED_SPANS)
        self._last_end_s: float | None = None
        self._quiet = _Quiet(look())

    def read(self, now_s: float) -> list[Step]:
        """Steps that ended since the last call, oldest first."""
        if self._source is None:
            return []
        steps = self._source.read(now_s)
        for step in steps:
            self._spans.append(step.span_s)
            self._last_end_s = step.end_s
        return steps

    @property
    def span_s(self) -> float | None:
        """What a step, or a record of several, usually takes."""
        return median_of(self._spans) if self._spans else None

    @property
    def resolution_s(self) -> float:
        return 0.0 if self._source is None else self._source.resolution_s

    def has_steps(self, now_s: float) -> bool:
        """Whether steps come in."""
        if self._last_end_s is None:
            return False
        silence_s = max(LEAST_SILENCE_S, MISSED_STEPS * (self.span_s or 0.0))
        return now_s - self._last_end_s <= silence_s

    def training(self, now_s: float) -> Training | None:
        """What the training does; None: there is no telling."""
        if self.has_steps(now_s):
            return "runs"
        pids = None if self._trainer_pids is None else self._trainer_pids()
        if pids is not None and not pids:
            return "over"
        has_stopped = self._last_end_s is not None
        if pids:
            return "paused" if has_stopped else "runs"
        is_busy = self._is_busy(now_s)
        if is_busy is None:
            return None
        if is_busy:
            return "paused" if has_stopped else "runs"
        return "over"

    def _is_busy(self, now_s: float) -> bool | None:
        """Whether anybody else computes here, on a GPU or on the cores."""
        gpu = None if self._gpu is None else self._gpu.busiest()
        if gpu is not None and gpu >= BUSY_GPU:
            return True
        now = look()
        if now.total_s is None:
            return False  # nobody counts: steps and processes have to do
        if now.at_s - self._quiet.since.at_s >= QUIET_S:
            self._quiet = _Quiet(now, busy_cores_of_others(self._quiet.since, now))
        busy = self._quiet.busy_cores
        return None if busy is None else busy >= BUSY_CORES
