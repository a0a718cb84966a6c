"""One job under the governor: windows, signals, decisions, and what it all cost.

Has no clock and no thread: whoever drives it says what time it is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from instride.governor.controlling import DEADLINE, Controller
from instride.governor.costing import Costing
from instride.governor.effect import Comparison
from instride.governor.gauge import Look
from instride.governor.jobs import Job, Jobs
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
        self._jobs = Jobs()
        self._begun_bytes = 0
        """What had been done when the first of the jobs began that there are now."""
        self._costing = Costing()
        self.decision: Decision | None = None

    def begin(
        self, now_s: float, num_bytes: int, deadline_s: float | None, most_effort: float = 1.0
    ) -> Job:
        """Work is about to start, beside other work or not: windows and costs are of all of it."""
        job = Job(num_bytes, deadline_s, most_effort)
        if self._jobs:
            self._jobs.add(job, self._count_anew(now_s))
            self._phases.most_effort = self._jobs.most_effort
            return job
        self._controller.begin()
        self.listen(now_s)
        self._phases.begin(now_s, most_effort)
        self._begun_bytes = self._count_anew(now_s)
        self._jobs.add(job, self._begun_bytes)
        self._costing.begin(now_s)
        self._phases.start(now_s, self._decide(now_s))
        return job

    def expect(self, deadline_s: float | None, job: Job | None = None) -> None:
        """The deadline of a job, or of the one that began last, has become known, or moved."""
        job = job or self._job
        if job is not None:
            job.deadline_s = deadline_s

    def end(self, now_s: float, job: Job | None = None) -> Cost:
        """A job, or the one that began last, is done, or given up. Its deadline, what was left of
        it, and the haste it was in end with it."""
        job = job or self._job
        assert job is not None
        if len(self._jobs) > 1:
            self._jobs.remove(job, self._count_anew(now_s))
            self._phases.most_effort = self._jobs.most_effort
            if job.deadline_s is not None and not self._jobs.are_hasty:
                self._controller.relax()
            return self.cost(now_s)
        self.listen(now_s)
        self._phases.end(now_s)
        cost = self.cost(now_s)
        self._costing.end(now_s, self._done_bytes())
        self._jobs.remove(job, self._paced.tally().num_bytes)
        return cost

    @property
    def _job(self) -> Job | None:
        return self._jobs.latest

    def _count_anew(self, now_s: float) -> int:
        """How fast it went with other jobs says nothing about these; returns what is done."""
        done_bytes = self._paced.tally().num_bytes
        self._rates = deque([(now_s, done_bytes)])
        return done_bytes

    @property
    def is_hasty(self) -> bool:
        """Whether a deadline beats the budget."""
        is_decided = self.decision is not None and self.decision.reason == DEADLINE
        return is_decided and self._jobs.are_hasty

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
        if not self._jobs:
            self._phases.rest(now_s)
            return now_s + REST_S
        self._rates.append((now_s, self._paced.tally().num_bytes))
        while self._rates[0][0] < now_s - RATE_S:
            self._rates.popleft()
        seen = self._phases.strain
        next_s = self._go_on(now_s, waited_s)
        if self._phases.strain is not seen:
            # A pause is over: what it showed is for all of the work behind it.
            next_s = self._go_on(now_s, waited_s)
        return next_s

    def _go_on(self, now_s: float, waited_s: float) -> float:
        before = self.decision
        decision = self._decide(now_s)
        return self._phases.advance(now_s, decision, _is_other(before, decision), waited_s)

    def _take(self, window: Window) -> None:
        """A window is over."""
        self._comparison.add_window(window)
        if window.kind in ("work", "settling", "hurried"):
            self._costing.add_work(window.end_s - window.start_s)

    def _rate(self) -> float | None:
        """Bytes per second over the last while, pauses included."""
        (first_s, first), (last_s, last) = self._rates[0], self._rates[-1]
        return (last - first) / (last_s - first_s) if last_s - first_s >= LEAST_RATE_S else None

    def _done_bytes(self) -> int:
        return self._paced.tally().num_bytes - self._begun_bytes if self._jobs else 0

    def _decide(self, now_s: float) -> Decision:
        self._jobs.see(self._paced.tally().num_bytes)
        left_bytes, deadline_s = self._jobs.due(now_s)
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
                    left_bytes=left_bytes,
                    deadline_s=deadline_s,
                )
            ),
        )
        if self.decision.reason == DEADLINE and deadline_s is not None:
            self._jobs.hurry(max(now_s, deadline_s))
        is_news = before is None or before.reason != self.decision.reason
        if is_news or _is_other(before, self.decision):
            with suppress(OSError):  # a journal on a disk that is full must not stop the governor
                self._note(self.decision)
        return self.decision


def _is_other(before: Decision | None, after: Decision) -> bool:
    """Whether something else is set; the bytes per second follow from the effort."""
    if before is None:
        return True
    is_hasty, will_be = before.most_pause_s is not None, after.most_pause_s is not None
    return (before.effort, before.duty, before.codec_step, before.is_open, is_hasty) != (
        after.effort, after.duty, after.codec_step, after.is_open, will_be,
    )  # fmt: skip
