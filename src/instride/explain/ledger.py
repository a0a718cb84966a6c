"""The ledger: every second of a run, assigned to an owner; everything adds up to the wall."""

from __future__ import annotations

from bisect import bisect_right
from itertools import islice
from statistics import median

import msgspec

from instride.explain.aftermath import aftermaths
from instride.explain.baseline import Regime, drop_slow_zones, regime_at, regimes
from instride.explain.combs import Beat, marked_periods
from instride.explain.edges import closing_spans, startup_s
from instride.explain.excess import Excess
from instride.explain.pauses import marked_pauses
from instride.explain.printed import is_too_coarse, printed_baseline
from instride.explain.processes import Process
from instride.explain.restarts import Restart, failed_launches, restarts, vain_launches
from instride.explain.rhythm import Rhythm, find_rhythm
from instride.explain.spans import Owner, Span
from instride.explain.timeline import Timeline
from instride.explain.unexplained import unexplained
from instride.explain.waiting import usual_data, waited_s
from instride.steps.model import Run

TINY = 5
"""Records: a process shorter than this borrows the baseline of its neighbour."""
SMALLEST_S = 5e-5
"""A spread that is written as something else than zero."""
CHRONIC = 0.05
"""Share of an ordinary step spent waiting for data from which it is a stall, not a cost."""


class Account(msgspec.Struct):
    """What one owner has."""

    seconds: float = 0.0
    steps: int = 0
    typical_s: float | None = None
    worst_s: float | None = None


class Ledger(msgspec.Struct):
    timeline: Timeline
    regimes: list[list[Regime]]
    """By process."""
    rhythm: Rhythm | None
    spans: list[Span]
    restarts: list[Restart]
    accounts: dict[Owner, Account]
    main: Regime
    """The regime that most steps were done in: its baseline stands for the run."""
    mean_wait_s: float
    """What a step waits for data on average, stalls left out."""
    baseline_s: float
    """An ordinary step as the trainer prints it; by the wall clock where it prints none."""

    @property
    def is_waiting(self) -> bool:
        """Whether ordinary steps spend more than a little of their time waiting for data."""
        return self.mean_wait_s > CHRONIC * self.main.base_s

    @property
    def wall_s(self) -> float:
        return sum(account.seconds for account in self.accounts.values())

    @property
    def mean_step_s(self) -> float:
        """What an ordinary step takes over the whole run, whatever its speeds."""
        own = [regime for found in self.regimes for regime in found]
        steps = [_steps_in(self.timeline, regime) for regime in own]
        weighed = sum(num * regime.base_s for num, regime in zip(steps, own, strict=True))
        return weighed / sum(steps)

    @property
    def spread_s(self) -> float:
        """Of ordinary steps; 0.0 where it would be that of a coarse clock, or of rounding."""
        is_told = self.main.spread_s >= SMALLEST_S and not is_too_coarse(self.timeline, self.main)
        return self.main.spread_s if is_told else 0.0

    @property
    def num_steps(self) -> int:
        """Steps that were done, also those between the printed ones, also those done again."""
        timeline, step = self.timeline, self.timeline.run.step
        return sum(
            step[process.end - 1] - step[process.begin] + timeline.num_steps(process.begin, process)
            for process in timeline.processes
        )

    @property
    def running_s(self) -> float:
        """The wall without the gaps between processes; the wall if there is nothing else."""
        running_s = self.wall_s - self.accounts[Owner.RESTART].seconds
        return running_s if running_s > 0 else self.wall_s

    @property
    def has_gap(self) -> bool:
        """Whether there are gaps to tell apart: shares that people read are of the running time."""
        return self.running_s < self.wall_s


def build(run: Run) -> Ledger:
    timeline = Timeline(run)
    found = [_regimes(timeline, process) for process in timeline.processes]
    _lend_baselines(timeline.processes, found)
    rhythm = _rhythm(timeline, found)
    usual_data_s = usual_data(run)
    spans: list[Span] = []
    periods: dict[int, Beat] = {}
    for process in timeline.processes:
        periods |= marked_periods(timeline, process)
    excesses = [
        Excess(timeline, process, own, rhythm)
        for process, own in zip(timeline.processes, found, strict=True)
    ]
    for excess in excesses:
        spans += marked_pauses(excess, usual_data_s)
    spans += aftermaths(excesses)
    for excess in excesses:
        spans += unexplained(excess, usual_data_s, periods)
    base = {id(process): own for process, own in zip(timeline.processes, found, strict=True)}
    spans += closing_spans(timeline, lambda index, process: regime_at(base[id(process)], index))
    spans.sort(key=lambda span: (span.begin, span.first_step))
    again = restarts(timeline, lambda i, process: regime_at(base[id(process)], i).base_s)
    main = max((regime for own in found for regime in own), key=lambda r: _steps_in(timeline, r))
    baseline_s = printed_baseline(timeline, main)
    ledger = Ledger(timeline, found, rhythm, spans, again, {}, main, 0.0, baseline_s)
    ledger.mean_wait_s = waited_s(timeline, spans, usual_data_s) / ledger.num_steps
    ledger.accounts = _accounts(ledger)
    return ledger


def _regimes(timeline: Timeline, process: Process) -> list[Regime]:
    found = regimes(timeline, process)
    saves = [
        at
        for at, events in timeline.events_at.items()
        if process.begin <= at < process.end and any("save" in event.kind for event in events)
    ]
    return drop_slow_zones(found, saves)


def _lend_baselines(processes: list[Process], found: list[list[Regime]]) -> None:
    """A process of a few records has no baseline of its own, but the process beside it has."""
    for position, process in enumerate(processes):
        if len(process) >= TINY:
            continue
        neighbours = [
            found[other][-1]
            for other in sorted(range(len(processes)), key=lambda o: abs(o - position))
            if len(processes[other]) >= TINY
        ]
        own = found[position][0]
        if neighbours and neighbours[0].base_s <= 1.5 * own.base_s <= 4 * neighbours[0].base_s:
            own.base_s, own.spread_s = neighbours[0].base_s, neighbours[0].spread_s
            found[position] = [Regime(process.begin, process.end, own.base_s, own.spread_s)]


def _rhythm(timeline: Timeline, found: list[list[Regime]]) -> Rhythm | None:
    """Look for a rhythm in the longest stretch of one speed that logs every step."""
    process, own = max(zip(timeline.processes, found, strict=True), key=lambda each: len(each[0]))
    regime = max(own, key=lambda each: each.end - each.begin)
    if process.stride != 1 or timeline.run.clock_resolution_s > 0.05 * regime.base_s:
        return None
    steps, factors = [], []
    for index in range(regime.begin + 1, min(regime.end, regime.begin + 8000)):
        factor = timeline.value(index, process) / regime.base_s if regime.base_s else 0.0
        if 0 < factor < 1.8 and index not in timeline.events_at:
            steps.append(timeline.run.step[index])
            factors.append(factor)
    return find_rhythm(steps, factors)


def _steps_in(timeline: Timeline, regime: Regime) -> int:
    step = timeline.run.step
    return step[regime.end - 1] - step[regime.begin] + 1


def _accounts(ledger: Ledger) -> dict[Owner, Account]:
    timeline = ledger.timeline
    accounts = {owner: Account() for owner in Owner}
    num_steps, total_s = 0, 0.0
    for process, own in zip(timeline.processes, ledger.regimes, strict=True):
        steps, seconds = _process_total(timeline, process, own)
        num_steps += steps
        total_s += seconds
    _add_spans(ledger, accounts)
    for restart in ledger.restarts:
        accounts[Owner.RESTART].seconds += restart.gap_s or 0.0
        accounts[Owner.LOST].seconds += restart.lost_s
        accounts[Owner.LOST].steps += restart.lost_steps
    accounts[Owner.RESTART].seconds += failed_launches(timeline)[1] + vain_launches(timeline)[1]
    accounts[Owner.STARTUP].seconds = startup_s(timeline)
    inside = sum(span.cost_s for span in ledger.spans if not span.is_closing)
    unseen = sum(span.unseen_s for span in ledger.spans if not span.is_closing)
    left = max(0.0, total_s + unseen - inside)
    _fit_lost(ledger, accounts[Owner.LOST], left)
    compute = accounts[Owner.COMPUTE]
    compute.seconds += left - accounts[Owner.LOST].seconds
    compute.typical_s = ledger.baseline_s
    compute.steps = max(0, num_steps - _num_slowed(ledger) - accounts[Owner.LOST].steps)
    if ledger.is_waiting:
        waiting_s = min(compute.seconds, ledger.mean_wait_s * num_steps)
        compute.seconds -= waiting_s
        compute.typical_s = max(0.0, ledger.baseline_s - ledger.mean_wait_s)
        data = accounts[Owner.DATA]
        data.seconds += waiting_s
        data.steps = num_steps
        data.typical_s = ledger.mean_wait_s
        if data.worst_s is not None:  # so far only what it was beyond the wait of every step
            data.worst_s += ledger.mean_wait_s
    return accounts


def _fit_lost(ledger: Ledger, account: Account, most_s: float) -> None:
    """Lost steps cannot have taken more than all steps did, if they were faster than usual."""
    if account.seconds > most_s:
        for restart in ledger.restarts:
            restart.lost_s *= most_s / account.seconds
        account.seconds = most_s


def _process_total(timeline: Timeline, process: Process, own: list[Regime]) -> tuple[int, float]:
    """Steps and seconds of a process, with the steps between the printed ones at the baseline."""
    step = timeline.run.step
    first = timeline.num_steps(process.begin, process)
    steps = step[process.end - 1] - step[process.begin] + first
    total_s = sum(islice(timeline.seconds, process.begin, process.end))
    for regime in own:
        single = timeline.is_single.count(1, regime.begin, regime.end)
        if single:
            covered = _covered_by_single(timeline, process, regime)
            total_s += (covered - single) * regime.base_s
    return steps, total_s


def _covered_by_single(timeline: Timeline, process: Process, regime: Regime) -> int:
    """Steps of the intervals of which one step was printed; nearly all intervals, or none."""
    step = timeline.run.step
    before = step[regime.begin] - timeline.num_steps(regime.begin, process)
    covered = step[regime.end - 1] - before
    whole = timeline.is_single.find(0, regime.begin, regime.end)
    while whole >= 0:
        covered -= timeline.num_steps(whole, process)
        whole = timeline.is_single.find(0, whole + 1, regime.end)
    return covered


def _steps_of(span: Span) -> int:
    """Steps that were slow: a pause stops one, whatever interval it was seen in."""
    if span.is_closing:
        return 0
    if span.owner in (Owner.EVAL, Owner.SAVE):
        return 1
    return span.last_step - span.first_step + 1


def _num_slowed(ledger: Ledger) -> int:
    """Steps that did more than compute, each counted once whatever owners it has."""
    paused: set[int] = set()
    begins, ends, steps = [0], [0], 0
    for span in ledger.spans:
        if span.is_closing:
            continue
        if span.owner in (Owner.EVAL, Owner.SAVE):
            paused.update(range(span.begin, span.end))
        elif span.end > ends[-1]:
            begins.append(max(span.begin, ends[-1]))
            ends.append(span.end)
            steps += ledger.timeline.steps_of(begins[-1], span.end)
    return steps + sum(index >= ends[bisect_right(begins, index) - 1] for index in paused)


def _add_spans(ledger: Ledger, accounts: dict[Owner, Account]) -> None:
    costs: dict[Owner, list[float]] = {}
    for span in ledger.spans:
        account = accounts[span.owner]
        account.seconds += span.cost_s
        account.steps += _steps_of(span)
        if span.owner is not Owner.COMPUTE:  # a step that was cut short says nothing of steps
            costs.setdefault(span.owner, []).append(span.cost_s)
    for owner, each in costs.items():
        accounts[owner].typical_s = median(each)
        accounts[owner].worst_s = max(each)
