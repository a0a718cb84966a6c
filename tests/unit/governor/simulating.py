"""A training that answers to background work in a known way, on a clock of its own."""

from __future__ import annotations

import random
from collections.abc import Callable

from instride.governor.controlling import Controller
from instride.governor.gauge import Look
from instride.governor.jobs import Job
from instride.governor.model import Cost, Decision, Step, Training
from instride.governor.pace import Setting, Tally
from instride.governor.regulating import Regulator

BUDGET = 0.02
Response = Callable[[float], float]
"""From the share of all threads at work to how much longer steps take."""


class SimulatedPace:
    """Work that gets done as fast as it is let."""

    def __init__(self, most_threads: int, thread_bytes_per_s: float) -> None:
        self.codec_step = 0
        self.may_start = True
        self.is_hurried = False
        self.setting = Setting()
        self.most_threads = most_threads
        self.speeds = [thread_bytes_per_s, 2 * thread_bytes_per_s, 4 * thread_bytes_per_s]
        """By codec: a lighter one is twice as fast."""
        self.num_bytes = 0.0
        self.busy_s = 0.0

    def set(self, setting: Setting) -> None:
        self.setting = setting

    def tally(self) -> Tally:
        return Tally(int(self.num_bytes), self.busy_s)

    @property
    def load(self) -> float:
        """The share of all threads that are at work."""
        if not self.setting.is_open:
            return 0.0
        threads = float(min(self.setting.threads, self.most_threads))
        rate = self.setting.bytes_per_s
        if rate is not None:
            threads = min(threads, rate / self.speeds[self.codec_step])
        return threads / self.most_threads

    @property
    def is_active(self) -> bool:
        return self.load > 0

    def work(self, seconds: float) -> None:
        busy_s = self.load * self.most_threads * seconds
        self.busy_s += busy_s
        self.num_bytes += busy_s * self.speeds[self.codec_step]


class SimulatedTraining:
    """Steps of `step_s`, longer by what the response says, with noise and a drift of their own."""

    resolution_s = 0.0
    num_sources = 1

    def __init__(
        self, response: Response, *, step_s: float = 0.15, noise: float = 0.02,
        drift: Callable[[float], float] = lambda at_s: 0.0, seed: int = 0,
    ) -> None:  # fmt: skip
        self.response = response
        self.step_s = step_s
        self.noise = noise
        self.drift = drift
        self.random = random.Random(seed)
        self.state: Training = "runs"
        self.steps: list[Step] = []
        self._new: list[Step] = []
        self._begun_s = 0.0
        self._left = self._draw(0.0)

    @property
    def span_s(self) -> float:
        return self.step_s

    def has_steps(self, now_s: float) -> bool:
        return self.state == "runs"

    def training(self, now_s: float) -> Training:
        return self.state

    def read(self, now_s: float) -> list[Step]:
        new, self._new = self._new, []
        return new

    def run(self, start_s: float, seconds: float, load: float) -> None:
        """Train on while so much work goes on."""
        if self.state != "runs":
            self._begun_s = start_s + seconds
            return
        slower = 1 + self.response(load)
        at_s = start_s
        while self._left * slower <= start_s + seconds - at_s:
            at_s += self._left * slower
            took_s = at_s - self._begun_s
            self._new.append(Step(at_s, took_s, took_s))
            self.steps.append(self._new[-1])
            self._begun_s = at_s
            self._left = self._draw(at_s)
        self._left -= (start_s + seconds - at_s) / slower

    def _draw(self, at_s: float) -> float:
        return self.step_s * (1 + self.drift(at_s)) * self.random.lognormvariate(0, self.noise)


class Simulation:
    """A governor between the two."""

    def __init__(
        self, training: SimulatedTraining, *, budget: float = BUDGET, most_threads: int = 4,
        thread_bytes_per_s: float = 1e8, mode: str = "share", io: float = 0.0, memory: float = 0.0,
        idle_cores: float = 0.0,
    ) -> None:  # fmt: skip
        self.training = training
        self.pace = SimulatedPace(most_threads, thread_bytes_per_s)
        self.decisions: list[tuple[float, Decision]] = []
        self.now_s = 0.0
        self.io, self.memory, self.idle_cores = io, memory, idle_cores
        self._idle_s = 0.0
        self.loads: list[tuple[float, float]] = []
        controller = Controller(budget, mode, most_threads)  # type: ignore[arg-type]
        self.regulator = Regulator(
            controller, training, self.pace, self._look,
            lambda decision: self.decisions.append((self.now_s, decision)),
        )  # fmt: skip

    def _look(self) -> Look:
        at_s = self.now_s
        return Look(at_s, self.io * at_s, self.memory * at_s, self._idle_s, at_s, 0.0)

    def begin(self, num_bytes: float = 1e15, deadline_s: float | None = None) -> None:
        self.idle(20.0)
        self.first = self.add(num_bytes, deadline_s)

    def add(self, num_bytes: float, deadline_s: float | None = None) -> Job:
        """A job beside those that there are."""
        return self.regulator.begin(self.now_s, int(num_bytes), deadline_s)

    def idle(self, seconds: float) -> None:
        """Nothing but training."""
        self.training.run(self.now_s, seconds, 0.0)
        self._pass(seconds)

    def go_on(self, seconds: float, until: Callable[[], bool] = lambda: False) -> None:
        end_s = self.now_s + seconds
        while self.now_s < end_s and not until():
            self.regulator.listen(self.now_s)
            next_s = min(self.regulator.advance(self.now_s), end_s)
            passed_s = max(1e-3, next_s - self.now_s)
            load = self.pace.load
            self.loads.append((passed_s, load))
            self.training.run(self.now_s, passed_s, load)
            self.pace.work(passed_s)
            self._pass(passed_s)

    def _pass(self, seconds: float) -> None:
        self.now_s += seconds
        self._idle_s += self.idle_cores * seconds

    def true_cost(self, last_s: float | None = None) -> float:
        """What the work of the last seconds did to steps in truth, pauses included."""
        total_s = cost_s = 0.0
        for passed_s, load in reversed(self.loads):
            if last_s is not None and total_s >= last_s:
                break
            total_s += passed_s
            slower = self.training.response(load)
            cost_s += passed_s * slower / (1 + slower)
        return cost_s / (total_s - cost_s)

    def efforts(self) -> list[float]:
        return [decision.effort for _, decision in self.decisions]

    def end(self, job: Job | None = None) -> Cost:
        return self.regulator.end(self.now_s, job)


def governed(training: SimulatedTraining, seconds: float) -> Simulation:
    """A job that is there from the beginning on."""
    simulation = Simulation(training)
    simulation.begin()
    simulation.go_on(seconds)
    return simulation
