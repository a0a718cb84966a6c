"""Makes runs: a training whose true times are known, written down as a dialect would."""

from __future__ import annotations

from collections.abc import Callable
from math import floor
from random import Random

from instride.explain.findings import Finding, findings
from instride.explain.ledger import Ledger, build
from instride.explain.spans import Owner, Span
from instride.explain.unknowns import Unknown, unknowns
from instride.steps.model import Dialect, EventKind, Pauses, Run, Sampling
from instride.steps.recording import Recording

NOON = 1_700_000_000.0
ONE_STEP = (Sampling.EVERY_STEP, Sampling.EVERY_KTH)

Duration = float | Callable[[int], float]
"""Seconds of a step, or what gives them for its number."""


class Training:
    """A loop that computes, pauses, dies and comes back; `log` gets what it would print.

    Time is true: `now` is the wall clock, whatever the log shows of it.
    """

    def __init__(
        self,
        sampling: Sampling = Sampling.EVERY_STEP,
        pauses: Pauses = Pauses.SAME,
        every: int = 1,
        *,
        has_wall: bool = False,
        prints: bool = True,
        resolution_s: float = 0.0,
        is_absolute: bool = True,
        step: int = 0,
    ) -> None:
        self.dialect = Dialect("made-up", "Made up", "step 1: 1 s", pauses, sampling)
        self.log = Recording(self.dialect)
        self.log.run.clock_resolution_s = resolution_s
        self.log.run.clock_is_absolute = is_absolute
        self.every, self.prints, self.has_wall = every, prints, has_wall
        self.resolution_s, self.is_absolute = resolution_s, is_absolute
        self.step = step
        """The last step done."""
        self.now = NOON
        self.line = 0
        self._process_began = NOON
        self._paused_s = 0.0
        self._unprinted: list[float] = []
        self._average_s: float | None = None

    def train(self, num_steps: int, seconds: Duration = 1.0, data: Duration | None = None) -> None:
        """Do so many more steps."""
        for _ in range(num_steps):
            self.step += 1
            compute_s = _at(seconds, self.step)
            self.now += compute_s
            hidden = self.dialect.pauses is Pauses.NONE
            self._unprinted.append(compute_s + (0.0 if hidden else self._paused_s))
            self._paused_s = 0.0
            if self.step % self.every == 0:
                wait_s = None if data is None else _at(data, self.step)
                self.log.step(self.step, self._next_line(), self._printed(), self._wall(), wait_s)

    def pause(
        self,
        kind: EventKind,
        seconds: float,
        *,
        is_stated: bool = False,
        is_sure: bool = True,
        is_named: bool = False,
    ) -> None:
        """Stand still for an evaluation or a save, and mark it; it may name the coming step."""
        self.now += seconds
        self._paused_s += seconds
        step = self.step + 1 if is_named else None
        stated = seconds if is_stated else None
        self.log.event(kind, self._next_line(), stated, self._wall(), step, is_sure)
        self._note_clock()

    def mark(self, kind: EventKind) -> None:
        """Print a line that costs nothing."""
        self.log.event(kind, self._next_line(), None, self._wall())
        self._note_clock()

    def wait(self, seconds: float) -> None:
        """Let time pass between two lines without a step, and without saying with what."""
        self._next_line()
        self._note_clock()
        self.now += seconds
        self._next_line()
        self._note_clock()

    def resume(self, after: int, gap_s: float = 0.0, *, has_banner: bool = False) -> None:
        """Die, stand still, and go on from a checkpoint of step `after`."""
        self.now += gap_s
        self._process_began = self.now
        self._paused_s, self._unprinted, self._average_s = 0.0, [], None
        if has_banner:
            self.mark(EventKind.START)
        self.step = after

    def finish(self) -> Run:
        run = self.log.finish()
        run.line_offsets = [0]
        return run

    def _next_line(self) -> int:
        self.line += 1
        return self.line

    def _wall(self) -> float | None:
        if not self.has_wall:
            return None
        clock = self.now if self.is_absolute else self.now - self._process_began
        return floor(clock / self.resolution_s) * self.resolution_s if self.resolution_s else clock

    def _note_clock(self) -> None:
        self.log.clock(self._wall(), self.line)

    def _printed(self) -> float | None:
        """What the dialect prints for the steps since the last record."""
        took, self._unprinted = self._unprinted, []
        if not self.prints or self.dialect.sampling is Sampling.TOTALS:
            return None
        seconds = took[-1] if self.dialect.sampling in ONE_STEP else sum(took) / len(took)
        if self.dialect.pauses is Pauses.SMOOTHED:
            before = seconds if self._average_s is None else self._average_s
            self._average_s = seconds = 0.9 * before + 0.1 * seconds
        return seconds


def _at(duration: Duration, step: int) -> float:
    return duration(step) if callable(duration) else duration


def jitter(seconds: float, share: float, seed: int = 0) -> Callable[[int], float]:
    """Steps that spread by a share of their time, as real ones do."""
    random = Random(seed)
    return lambda _: seconds * max(0.5, random.gauss(1.0, share))


def heavy_tailed(seconds: float, seed: int = 0) -> Callable[[int], float]:
    """A shared machine: deviations of 8 % (MAD), and now and then a step of up to 1.6 times."""
    random = Random(seed)

    def draw(_: int) -> float:
        if random.random() < 0.03:
            return seconds * random.uniform(1.2, 1.6)
        return seconds * max(0.6, random.gauss(1.0, 0.08 * 1.4826))

    return draw


def disturbed(
    seconds: float, factor: float, busy_s: float, idle_s: float, seed: int = 0
) -> Callable[[int], float]:
    """Another program takes the cores now and then: steps meanwhile take so many times as long."""
    random = Random(seed)
    now, until, is_busy = 0.0, random.expovariate(1 / idle_s), False

    def draw(_: int) -> float:
        nonlocal now, until, is_busy
        while now >= until:
            is_busy = not is_busy
            until += random.expovariate(1 / (busy_s if is_busy else idle_s))
        took = seconds * (factor if is_busy else 1.0) * max(0.7, random.gauss(1.0, 0.04))
        now += took
        return took

    return draw


def of(ledger: Ledger, owner: Owner) -> list[Span]:
    return [span for span in ledger.spans if span.owner is owner]


def seconds_of(ledger: Ledger, owner: Owner) -> float:
    return ledger.accounts[owner].seconds


def owners_of(ledger: Ledger) -> set[Owner]:
    """Who has a span, apart from computing."""
    return {span.owner for span in ledger.spans} - {Owner.COMPUTE}


def found(run: Run) -> dict[str, Finding]:
    """Findings by id; of several with one id the most expensive."""
    by_id: dict[str, Finding] = {}
    for finding in findings(build(run)):
        by_id.setdefault(finding.id, finding)
    return by_id


def gaps_in(run: Run) -> dict[str, Unknown]:
    """What the log could not tell, by id."""
    return {each.id: each for each in unknowns(build(run))}
