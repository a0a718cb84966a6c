"""The ledger: every second of a run, assigned to an owner; everything adds up to the wall."""

from __future__ import annotations

from itertools import islice
from math import isnan
from statistics import median

import msgspec

from instride.explain.aftermath import aftermaths
from instride.explain.baseline import Regime, drop_slow_zones, regime_at, regimes
from instride.explain.edges import closing_spans, startup_s
from instride.explain.excess import Excess
from instride.explain.pauses import marked_pauses
from instride.explain.processes import Process
from instride.explain.restarts import Restart, restarts, vain_launches
from instride.explain.rhythm import Rhythm, find_rhythm
from instride.explain.spans import Owner, Span
from instride.explain.timeline import Timeline
from instride.explain.unexplained import Beat, marked_periods, unexplained
from instride.steps.model import Pauses, Run

TINY = 5
"""Records: a process shorter than this borrows the baseline of its neighbour."""
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
    usual_data_s: float
    """What an ordinary step waits for data."""
    baseline_s: float
    """An ordinary step as the trainer prints it; by the wall clock where it prints none."""

    @property
    def wall_s(self) -> float:
        return sum(account.seconds for account in self.accounts.values())

    @property
    def running_s(self) -> float:
        """The wall without the gaps between processes; the wall if there is nothing else."""
        running_s = self.wall_s - self.accounts[Owner.RESTART].seconds
        return running_s if running_s > 0 else self.wall_s


def build(run: Run) -> Ledger:
    timeline = Timeline(run)
    found = [_regimes(timeline, process) for process in timeline.processes]
    _lend_baselines(timeline.processes, found)
    rhythm = _rhythm(timeline, found)
    usual_data_s = _usual_data(run)
    spans: list[Span] = []
    periods: dict[int, Beat] = {}
    for process in timeline.processes:
        periods |= marked_periods(timeline, process)
    for process, own in zip(timeline.processes, found, strict=True):
        excess = Excess(timeline, process, own, rhythm)
        spans += marked_pauses(excess, usual_data_s)
        spans += aftermaths(excess)
        spans += unexplained(excess, usual_data_s, periods)
    base = {id(process): own for process, own in zip(timeline.processes, found, strict=True)}
    spans += closing_spans(timeline, lambda index, process: regime_at(base[id(process)], index))
    spans.sort(key=lambda span: (span.begin, span.first_step))
    again = restarts(timeline, lambda i, process: regime_at(base[id(process)], i).base_s)
    main = max((regime for own in found for regime in own), key=lambda r: _steps_in(timeline, r))
    baseline_s = _printed_baseline(timeline, main)
    ledger = Ledger(timeline, found, rhythm, spans, again, {}, main, usual_data_s, baseline_s)
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


def _usual_data(run: Run) -> float:
    stride = 1 + len(run.data) // 20_000
    waits = [wait for wait in run.data[::stride] if not isnan(wait)]
    return median(waits) if waits else 0.0


def _printed_baseline(timeline: Timeline, main: Regime) -> float:
    """The wall holds a little more than the trainer's own clock; people know the latter."""
    run = timeline.run
    if not timeline.has_wall(main.end - 1, timeline.process_of(main.begin)):
        return main.base_s
    stride = 1 + (main.end - main.begin) // 20_000
    printed = [run.seconds[i] for i in range(main.begin, main.end, stride)]
    known = [seconds for seconds in printed if abs(seconds - main.base_s) < 0.15 * main.base_s]
    if not known or run.dialect.pauses is Pauses.SMOOTHED:
        return main.base_s
    middle = median(known)
    return middle if 0.95 * main.base_s < middle <= main.base_s else main.base_s


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
    accounts[Owner.RESTART].seconds += vain_launches(timeline)[1]
    accounts[Owner.STARTUP].seconds = startup_s(timeline)
    inside = sum(span.cost_s for span in ledger.spans if not span.is_closing)
    unseen = sum(span.unseen_s for span in ledger.spans if not span.is_closing)
    left = max(0.0, total_s + unseen - inside)
    _fit_lost(ledger, accounts[Owner.LOST], left)
    compute = accounts[Owner.COMPUTE]
    compute.seconds += left - accounts[Owner.LOST].seconds
    compute.typical_s = ledger.baseline_s
    compute.steps = max(0, num_steps - _num_slowed(ledger) - accounts[Owner.LOST].steps)
    if ledger.usual_data_s > CHRONIC * ledger.main.base_s:
        waited = min(compute.seconds, ledger.usual_data_s * num_steps)
        compute.seconds -= waited
        accounts[Owner.DATA].seconds += waited
        accounts[Owner.DATA].steps = num_steps
        accounts[Owner.DATA].typical_s = ledger.usual_data_s
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
    slowed: set[int] = set()
    for span in ledger.spans:
        if not span.is_closing:
            is_pause = span.owner in (Owner.EVAL, Owner.SAVE)
            (paused if is_pause else slowed).update(range(span.begin, span.end))
    timeline = ledger.timeline
    steps = sum(timeline.num_steps(i, timeline.process_of(i)) for i in slowed)
    return steps + len(paused - slowed)


def _add_spans(ledger: Ledger, accounts: dict[Owner, Account]) -> None:
    costs: dict[Owner, list[float]] = {}
    for span in ledger.spans:
        account = accounts[span.owner]
        account.seconds += span.cost_s
        account.steps += _steps_of(span)
        costs.setdefault(span.owner, []).append(span.cost_s)
    for owner, each in costs.items():
        accounts[owner].typical_s = median(each)
        accounts[owner].worst_s = max(each)
