"""What instride promises, held against a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from statistics import median
from typing import NamedTuple

import msgspec

from instride.bench.names import (
    NOTHING,
    NOTHING_AGAIN,
    OURS,
    OURS_AT_ONCE,
    OURS_WITHOUT_ROOM,
    PAUSE,
    STEPS_BETWEEN_SAVES,
    is_rival,
)
from instride.bench.report import Report, RoundTrip, Row

CALL_FACTOR, CALL_MORE_S = 1.3, 0.005
COST_FACTOR = 5.0
DURABLE_FACTOR = 1.3
MEMORY_FACTOR, MEMORY_MORE_BYTES = 1.0, 128 << 20
MOST_PLANNING_S = 0.002
MOST_BEAT_S = 5e-6
SYNCHRONOUS = "torch.save"
LEAST_STATE_BYTES = 10**9
"""With less, other things than copying and writing decide."""

MOST_DEVICE_COST_S = 0.025
MOST_FIRST_COST_S = 0.040
MORE_WITHOUT_ROOM_S = 0.040
MOST_PREPARE_S = 0.100
MOST_LATER = 0.02
MOST_AFTER = 0.02
"""What is promised is a step as long as before. Ten steps of the same training differ by 0.4 %, and
some more when its clock drifts (bench/results/save-gpu.md); memory that was left in pieces, or in
another place, would show by more than the 2 % that background work may cost anyway."""
DEVICE_FACTOR = 1.15
DEVICE_MORE_BYTES = 256 << 20
MOST_PART = 0.01


class Unit(StrEnum):
    SECONDS = "s"
    BYTES = "B"
    SHARE = "of one"
    PERCENT = "%"
    TIMES = "times"


class Bar(msgspec.Struct, frozen=True):
    """One promise: what was measured must not be above the limit."""

    what: str
    measured: float | None
    """None where it was to be measured, and that failed: a promise does not vanish by it."""
    limit: float
    unit: Unit = Unit.SECONDS
    noise: float | None = None
    """How far apart windows are in which nothing was saved, for the reader to judge by: no promise
    is kept for it. None where nobody looked."""
    each: Sequence[float] = ()
    """What `measured` is the median of, where these are few and each was promised something."""

    @property
    def is_kept(self) -> bool:
        return self.measured is not None and self.measured <= self.limit

    @property
    def is_split(self) -> bool:
        """Whether some of them are within the limit, and some are not: one word for all would say
        more than was seen."""
        return bool(self.each) and min(self.each) <= self.limit < max(self.each)


def bars(report: Report) -> list[Bar]:
    """Every promise that the report can tell about; those of cost only if rivals were measured."""
    if report.device != "cpu":
        return list(_device_bars(report))
    rows = {row.name: row for row in report.rows}
    ours = rows.get(OURS)
    if ours is None:
        return []
    floors = report.floors
    call_limit_s = CALL_FACTOR * floors.memcpy_s + CALL_MORE_S
    found = [
        Bar("call, by 1.3 x memcpy + 5 ms", ours.call_s, call_limit_s),
        Bar("first call, by the same", ours.first_call_s, call_limit_s),
        *_all_cost_bars(rows),
    ]
    if floors.direct_write_s is not None:
        limit_s = DURABLE_FACTOR * floors.direct_write_s
        found.append(Bar("done, by 1.3 x direct write", ours.durable_s, limit_s))
    if ours.peak_host_bytes is not None:
        limit = MEMORY_FACTOR * report.state_bytes + MEMORY_MORE_BYTES
        found.append(Bar("memory, by the state + 128 MiB", ours.peak_host_bytes, limit, Unit.BYTES))
    found.append(Bar("planning 2,000 tensors", report.planning_s, MOST_PLANNING_S))
    found.append(Bar("a beat", report.beat_s, MOST_BEAT_S))
    return found


def _all_cost_bars(rows: dict[str, Row]) -> Iterator[Bar]:
    """Each way of ours by the noise of windows that are at least as long as its own."""
    for name, nothing in ((OURS, NOTHING_AGAIN), (OURS_AT_ONCE, NOTHING)):
        if name in rows:
            noise_s = rows[nothing].cost_spread_s if nothing in rows else 0.0
            yield from _cost_bars(rows[name], rows, noise_s)


def _cost_bars(ours: Row, rows: dict[str, Row], noise_s: float) -> Iterator[Bar]:
    """Against what stops training, and against the best rival; a row that tears is none."""
    what = "cost" if ours.name == OURS else "cost at once"
    if SYNCHRONOUS in rows:
        limit_s = rows[SYNCHRONOUS].cost_s / COST_FACTOR + noise_s
        yield Bar(f"{what}, by torch.save / 5 + noise", ours.cost_s, limit_s)
    rivals = [row for row in rows.values() if is_rival(row.name) and not row.torn]
    if rivals:
        best = min(rivals, key=lambda row: row.cost_s)
        yield Bar(f"{what}, by {best.name} + noise", ours.cost_s, best.cost_s + noise_s)


class _Cost(NamedTuple):
    """What saves cost, by the steps that can tell it."""

    over: str
    later_s: float
    first_s: float
    noise_s: float | None


def _cost(report: Report, row: Row, again: Row | None) -> _Cost:
    """By the first ten steps, in which hardly anything drifts. Where the loop does not wait for the
    GPU, single steps tell how fast work was queued; only all until the save is over, with what was
    left in the queue, tell what it cost."""
    if report.is_synced_loop:
        noise_s = again.early_cost_spread_s if again else None
        return _Cost("in the first ten steps", row.early_cost_s, row.first_early_cost_s, noise_s)
    noise_s = again.cost_spread_s if again else None
    return _Cost("until it is over", row.later_cost_s, row.first_cost_s, noise_s)


def _device_bars(report: Report) -> Iterator[Bar]:
    """Every promise that the report of a GPU can tell about."""
    rows = {row.name: row for row in report.rows}
    again = rows.get(NOTHING_AGAIN)
    if OURS in rows:
        yield from _with_room(report, rows[OURS], again)
    if OURS_WITHOUT_ROOM in rows:
        yield from _without_room(report, rows[OURS_WITHOUT_ROOM], again, rows.get(PAUSE))


def _without_room(report: Report, full: Row, again: Row | None, pause: Row | None) -> Iterator[Bar]:
    if report.device_floors and report.forward_and_backward_s:
        hidden_s = min(report.device_floors.bus_s, report.forward_and_backward_s)
        limit_s = report.device_floors.bus_s - hidden_s + MORE_WITHOUT_ROOM_S
        cost = _cost(report, full, again)
        yield Bar("on a full GPU, by what a step hides", cost.later_s, limit_s, noise=cost.noise_s)
        yield Bar("the first save there, by the same", cost.first_s, limit_s, noise=cost.noise_s)
    if report.is_synced_loop:
        yield from _later(full, pause or again, " there")
    yield from _preparing(full, "preparing there", again)


def _with_room(report: Report, ours: Row, again: Row | None) -> Iterator[Bar]:
    cost = _cost(report, ours, again)
    noise_s = cost.noise_s
    yield Bar(f"cost {cost.over}", cost.later_s, MOST_DEVICE_COST_S, noise=noise_s)
    yield Bar("the same for the first save", cost.first_s, MOST_FIRST_COST_S, noise=noise_s)
    limit_s = MOST_PART * STEPS_BETWEEN_SAVES * report.base_step_s
    yield Bar("a later one, by 1 % of ten steps", cost.later_s, limit_s, noise=noise_s)
    shares = report.often.shares if report.often else []
    yield _of_each("a save every ten steps, by 1 %", shares, MOST_PART, Unit.PERCENT)
    if report.is_synced_loop:
        yield from _later(ours, again)
    yield from _preparing(ours, "preparing", again)
    yield from _there_and_back(report.round_trip)
    if ours.peak_host_bytes is not None:
        limit = report.state_bytes + DEVICE_MORE_BYTES
        yield Bar("memory, by the state + 256 MiB", ours.peak_host_bytes, limit, Unit.BYTES)


def _later(ours: Row, again: Row | None, where: str = "") -> Iterator[Bar]:
    """No step later than a save may be slower by more than 2 % than what steps differ by anyway,
    which is what as many windows of `none again` show, as long as ours, in the same run. On a full
    GPU, those of `none with a pause`: the GPU rests there too, and a rest shows in steps behind it.

    Held against each other are the steps that one in a hundred exceeds, of which there are enough
    to be alike in every run; and the longest of all, so that no step is left out of a promise that
    says "no step". That one hangs on a single disturbance, of whatever kind: the limit shows how
    large those were without us.
    """
    if again is None:
        limit = ours.p99_around + MOST_LATER
        what = f"later steps{where}, p99 by others + 2 %"
        yield Bar(what, ours.p99_later, limit, Unit.PERCENT)
        return
    limit, longest = again.p99_later + MOST_LATER, again.max_later + MOST_LATER
    noise = "noise" if again.name == NOTHING_AGAIN else "a pause"
    what = f"later steps{where}, p99 by {noise} + 2 %"
    yield Bar(what, ours.p99_later, limit, Unit.PERCENT)
    yield Bar(f"the longest of them{where}, by the same", ours.max_later, longest, Unit.PERCENT)


def _there_and_back(trip: RoundTrip | None) -> Iterator[Bar]:
    """Each time by what was measured right beside it."""
    done = _by(trip.done_s, trip.direct_write_s) if trip else []
    first = _by(trip.first_done_s, trip.direct_write_s) if trip else []
    restored = _by(trip.restore_s, trip.direct_read_s) if trip else []
    yield _of_each("done, by direct write", done, DEVICE_FACTOR, Unit.TIMES)
    yield _of_each("the first save done, by the same", first, DEVICE_FACTOR, Unit.TIMES)
    yield _of_each("restored, by direct read", restored, DEVICE_FACTOR, Unit.TIMES)
    slower = median(trip.steps_after_s) / median(trip.steps_before_s) - 1 if trip else None
    yield Bar("a step after that, by one before", slower, MOST_AFTER, Unit.PERCENT)


def _by(took_s: list[float], floors_s: list[float]) -> list[float]:
    return [each_s / floor_s for each_s, floor_s in zip(took_s, floors_s, strict=True)]


def _of_each(what: str, each: Sequence[float], limit: float, unit: Unit) -> Bar:
    """By the median, with those that it is of."""
    return Bar(what, median(each) if each else None, limit, unit, each=each)


def _preparing(ours: Row, what: str, again: Row | None) -> Iterator[Bar]:
    """By what steps show, and by what is told to users."""
    noise_s = again.cost_spread_s if again else None
    yield Bar(what, ours.prepare_cost_s, MOST_PREPARE_S, noise=noise_s)
    yield Bar(f"{what}, by `prepare_cost_s`", ours.prepare_told_s, MOST_PREPARE_S)
