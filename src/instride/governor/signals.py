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
GONE_SILENCE_S = 2.0
"""The same where all processes have ended that were seen: others may go on with the training."""
PATIENCE_S = 10.0
"""How long the best source alone is listened to: a log may need some lines to be understood."""
BUSY_CORES = 0.5
QUIET_S, STALE_S = 5.0, 30.0
"""How long the machine must be watched before it counts as quiet, and after how long what it did
in between says nothing about now: nobody looks between two jobs."""


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

    Where no source of steps has given any, seconds of a GPU stand for them.
    """

    def __init__(
        self,
        steps: StepSource | None = None,
        trainer_pids: Callable[[], Sequence[int] | None] | None = None,
        gpu: Busyness | None = None,
    ) -> None:
        self._sources = [] if steps is None else [steps]
        """Those that may still give steps, the best first."""
        if gpu is not None:
            self._sources.append(GpuSteps(gpu))
        self._source: StepSource | None = None
        self.num_sources = 0
        """How many have given steps so far: those of one cannot be held against another's."""
        self._begun_s: float | None = None
        self._trainer_pids = trainer_pids
        self._gpu = gpu
        self._spans: deque[float] = deque(maxlen=REMEMBERED_SPANS)
        self._last_end_s: float | None = None
        self._quiet = _Quiet(look())

    def read(self, now_s: float) -> list[Step]:
        """Steps that ended since the last call, oldest first; of the best source that has any."""
        self._begun_s = now_s if self._begun_s is None else self._begun_s
        is_patient = now_s - self._begun_s < PATIENCE_S
        for source in self._sources[:1] if is_patient else list(self._sources):
            steps = source.read(now_s)
            if steps:
                self._settle_for(source)
                for step in steps:
                    self._spans.append(step.span_s)
                    self._last_end_s = step.end_s
                return steps
        return []

    def _settle_for(self, source: StepSource) -> None:
        """Listen to nothing worse than what tells of steps now."""
        if source is not self._source:
            self._source = source
            self.num_sources += 1
            self._spans.clear()
            del self._sources[self._sources.index(source) + 1 :]

    @property
    def span_s(self) -> float | None:
        """What a step, or a record of several, usually takes."""
        return median_of(self._spans) if self._spans else None

    @property
    def resolution_s(self) -> float:
        source = self._source or next(iter(self._sources), None)
        return 0.0 if source is None else source.resolution_s

    def has_steps(self, now_s: float) -> bool:
        """Whether steps come in."""
        return self._came_within(now_s, LEAST_SILENCE_S)

    def _came_within(self, now_s: float, least_s: float) -> bool:
        if self._last_end_s is None:
            return False
        return now_s - self._last_end_s <= max(least_s, MISSED_STEPS * (self.span_s or 0.0))

    def training(self, now_s: float) -> Training | None:
        """What the training does; None: there is no telling."""
        pids = None if self._trainer_pids is None else self._trainer_pids()
        is_gone = pids is not None and not pids
        if self._came_within(now_s, GONE_SILENCE_S if is_gone else LEAST_SILENCE_S):
            return "runs"
        if is_gone:
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
        watched_s = now.at_s - self._quiet.since.at_s
        if watched_s >= STALE_S:
            self._quiet = _Quiet(now)
        elif watched_s >= QUIET_S:
            self._quiet = _Quiet(now, busy_cores_of_others(self._quiet.since, now))
        busy = self._quiet.busy_cores
        return None if busy is None else busy >= BUSY_CORES
