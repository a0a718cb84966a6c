"""One job under the governor: windows, signals, decisions, and what it all cost.

Has no clock and no thread: whoever drives it says what time it is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

import msgspec

from instride.governor.controlling import Controller
from instride.governor.costing import Costing
from instride.governor.effect import Comparison
from instride.governor.gauge import Look
from instride.governor.model import Cost, Decision, Step, Training, Window
from instride.governor.outlook import Outlook
from instride.governor.phases import REST_S, Paced, Phases, Rhythm

RATE_S, LEAST_RATE_S = 15.0, 3.0
"""The stretch over which the rate of the work is measured, and the shortest that tells it."""


class Sensing(Rhythm, Protocol):
    """What is seen of the training."""

    @property
    def num_sources(self) -> int: ...
    def read(self, now_s: float) -> list[Step]: ...
    def has_steps(self, now_s: float) -> bool: ...
    def training(self, now_s: float) -> Training | None: ...


class _Job(msgspec.Struct):
    num_bytes: int
    deadline_s: float | None
    begun_bytes: int


class Regulator:
    def __init__(
        self,
        controller: Controller,
        sensing: Sensing,
        paced: Paced,
        look: Callable[[], Look],
        note: Callable[[Decision], None] = lambda decision: None,
    ) -> None:
        self._controller = controller
        self._sensing = sensing
        self._paced = paced
        self._note = note
        self._comparison = Comparison()
        self._num_sources = sensing.num_sources
        self._phases = Phases(paced, sensing, look, self._take)
        self._rates: deque[tuple[float, int]] = deque()
        self._job: _Job | None = None
        self._costing = Costing()
        self.decision: Decision | None = None

    def begin(
        self, now_s: float, num_bytes: int, deadline_s: float | None, most_effort: float = 1.0
    ) -> None:
        """Work is about to start."""
        self._controller.begin()
        self.listen(now_s)
        self._phases.begin(now_s, most_effort)
        done_bytes = self._paced.tally().num_bytes
        self._job = _Job(num_bytes, deadline_s, done_bytes)
        self._rates = deque([(now_s, done_bytes)])
        self._costing.begin(now_s)
        self._phases.start(now_s, self._decide(now_s, self._job))

    def extend(self, num_bytes: int, deadline_s: float | None) -> None:
        """More work has come before the first is done: it is one job with it."""
        if self._job is not None:
            self._phases.most_effort = 1.0
            self._job.num_bytes += num_bytes
            deadlines = [each for each in (self._job.deadline_s, deadline_s) if each is not None]
            self._job.deadline_s = min(deadlines, default=None)

    def expect(self, deadline_s: float | None) -> None:
        """The deadline of the job has become known, or moved."""
        if self._job is not None:
            self._job.deadline_s = deadline_s

    def end(self, now_s: float) -> Cost:
        """The work is done, or given up."""
        self.listen(now_s)
        self._phases.end(now_s)
        cost = self.cost(now_s)
        self._costing.end(now_s, self._done_bytes())
        self._job = None
        return cost

    def look_anew(self) -> None:
        """What the machine waited for until now was our own doing, outside of any job."""
        self._phases.look_anew()

    def cost(self, now_s: float) -> Cost:
        """Of this job so far."""
        return self._costing.of_job(now_s, self._done_bytes(), self._comparison.pairs)

    def total_cost(self, now_s: float) -> Cost:
        """Of all jobs so far."""
        return self._costing.of_all(now_s, self._done_bytes(), self._comparison.pairs)

    def listen(self, now_s: float) -> None:
        """Take the steps that have ended."""
        steps = self._sensing.read(now_s)
        if self._sensing.num_sources != self._num_sources:
            self._num_sources = self._sensing.num_sources
            self._comparison.begin_anew()
        self._comparison.add_steps(steps)

    def advance(self, now_s: float, waited_s: float = 0.0) -> float:
        """Decide and set; returns when to come again. Whoever calls has waited so long for a core
        so far."""
        if self._job is None:
            self._phases.rest(now_s)
            return now_s + REST_S
        self._rates.append((now_s, self._paced.tally().num_bytes))
        while self._rates[0][0] < now_s - RATE_S:
            self._rates.popleft()
        seen = self._phases.strain
        next_s = self._go_on(now_s, self._job, waited_s)
        if self._phases.strain is not seen:
            # A pause is over: what it showed is for all of the work behind it.
            next_s = self._go_on(now_s, self._job, waited_s)
        return next_s

    def _go_on(self, now_s: float, job: _Job, waited_s: float) -> float:
        before = self.decision
        decision = self._decide(now_s, job)
        return self._phases.advance(now_s, decision, _is_other(before, decision), waited_s)

    def _take(self, window: Window) -> None:
        """A window is over."""
        self._comparison.add_window(window)
        if window.kind in ("work", "settling") or self._paced.is_hurried:
            self._costing.add_work(window.end_s - window.start_s)

    def _rate(self) -> float | None:
        """Bytes per second over the last while, pauses included."""
        (first_s, first), (last_s, last) = self._rates[0], self._rates[-1]
        return (last - first) / (last_s - first_s) if last_s - first_s >= LEAST_RATE_S else None

    def _done_bytes(self) -> int:
        return 0 if self._job is None else self._paced.tally().num_bytes - self._job.begun_bytes

    def _decide(self, now_s: float, job: _Job) -> Decision:
        has_steps = self._sensing.has_steps(now_s)
        self._costing.saw_steps = self._costing.saw_steps or has_steps
        before, self.decision = (
            self.decision,
            self._controller.decide(
                Outlook(
                    now_s,
                    training=self._sensing.training(now_s),
                    has_steps=has_steps,
                    pairs=tuple(self._comparison.pairs),
                    strain=self._phases.strain,
                    thread_bytes_per_s=self._phases.thread_bytes_per_s,
                    bytes_per_s=self._rate(),
                    left_bytes=max(0, job.num_bytes - self._done_bytes()),
                    deadline_s=job.deadline_s,
                )
            ),
        )
        is_news = before is None or before.reason != self.decision.reason
        if is_news or _is_other(before, self.decision):
            with suppress(OSError):  # a journal on a disk that is full must not stop the governor
                self._note(self.decision)
        return self.decision


def _is_other(before: Decision | None, after: Decision) -> bool:
    """Whether something else is set; the bytes per second follow from the effort."""
    if before is None:
        return True
    return (before.effort, before.duty, before.codec_step, before.is_open) != (
        after.effort, after.duty, after.codec_step, after.is_open,
    )  # fmt: skip
