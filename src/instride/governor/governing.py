"""The governor's thread: drives a regulator by the clock while there is work."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from instride.governor.controlling import Controller
from instride.governor.gauge import look, waited_for_a_core_s
from instride.governor.jobs import Job
from instride.governor.model import BUDGET, Cost, Decision, Mode
from instride.governor.pace import Pace, Setting
from instride.governor.regulating import Regulator, Sensing
from instride.governor.yielding import stand_up


class Governor:
    """Keeps what work under a `Pace` costs the training below a budget.

    `note` is called with each decision that changes something, and `note_cost` with what each job
    cost; neither may wait for anything, nor call back.
    """

    def __init__(
        self,
        pace: Pace,
        signals: Sensing,
        *,
        budget: float = BUDGET,
        mode: Mode = "share",
        most_threads: int = 1,
        num_codec_steps: int = 2,
        note: Callable[[Decision], None] = lambda decision: None,
        note_cost: Callable[[Cost], None] = lambda cost: None,
    ) -> None:
        controller = Controller(budget, mode, most_threads, num_codec_steps)
        self._most_threads = most_threads
        self._pace = pace
        self._regulator = Regulator(controller, signals, pace, look, note)
        self._changed = threading.Condition()
        self._note_cost = note_cost
        self._is_hasty = False
        self.on_haste: Callable[[bool], None] = stand_up
        """Called when a deadline begins to beat the budget, and when it does so no longer: to let
        the threads have more of the machine than they are left with. Like `note`, at once."""
        self._jobs: list[tuple[int, Job]] = []
        """Each with the thread that began it."""
        self._is_closed = False
        self._thread = threading.Thread(target=self._work, name="governor", daemon=True)

    def start(self) -> None:
        self._thread.start()

    @property
    def decision(self) -> Decision | None:
        """The latest one."""
        return self._regulator.decision

    def begin(
        self, num_bytes: int, deadline_s: float | None = None, most_threads: int | None = None
    ) -> None:
        """So many bytes will take their turns, from so many threads if these are fewer than there
        may be; by the monotonic clock they should be done by the deadline. Jobs may overlap: what
        they cost is that of all of them, and each keeps its deadline to itself. The thread that
        begins one is the one that ends it, the last first."""
        effort = 1.0 if most_threads is None else most_threads / self._most_threads
        with self._changed:
            job = self._regulator.begin(time.monotonic(), num_bytes, deadline_s, effort)
            self._jobs.append((threading.get_ident(), job))
            if self._is_closed:
                self._let_go()
            self._tell_haste()
            self._changed.notify_all()

    def expect(self, deadline_s: float | None) -> None:
        """The deadline of the job has become known, or moved."""
        with self._changed:
            self._regulator.expect(deadline_s, self._own_job())
            self._changed.notify_all()

    def end(self) -> Cost:
        """The job is done, or given up; what it cost, with those that it overlaps."""
        with self._changed:
            job = self._own_job()
            self._jobs.remove((threading.get_ident(), job))
            cost = self._regulator.end(time.monotonic(), job)
            if not self._jobs:
                self._note_cost(cost)
            self._tell_haste()
            self._changed.notify_all()
            return cost

    def _own_job(self) -> Job:
        """The last one that this thread began."""
        own = threading.get_ident()
        return next(job for thread, job in reversed(self._jobs) if thread == own)

    def look_anew(self) -> None:
        """Something was done that is no job, such as deleting files: what a disk had to do for it
        is no sign of others."""
        with self._changed:
            self._regulator.look_anew()

    def cost_so_far(self) -> Cost:
        """Of this job."""
        with self._changed:
            return self._regulator.cost(time.monotonic())

    def total_cost(self) -> Cost:
        """Of all jobs."""
        with self._changed:
            return self._regulator.total_cost(time.monotonic())

    def close(self) -> None:
        """Govern no more: nothing is held back from now on."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        if self._thread.ident is not None:
            self._thread.join()
        self._let_go()

    def _let_go(self) -> None:
        self._pace.set(Setting())
        self._pace.may_start = True

    def _work(self) -> None:
        with self._changed:
            while not self._is_closed:
                if self._jobs:
                    # Reading may take its time on a machine that is never idle; the moment at which
                    # the gate is opened or closed has to be known.
                    self._regulator.listen(time.monotonic())
                now_s = time.monotonic()
                next_s = self._regulator.advance(now_s, waited_for_a_core_s())
                self._tell_haste()
                self._changed.wait(max(0.001, next_s - time.monotonic()))

    def _tell_haste(self) -> None:
        is_hasty = self._regulator.is_hasty
        if is_hasty != self._is_hasty:
            self._is_hasty = is_hasty
            self.on_haste(is_hasty)
