"""Step times as one series over the whole run, for charts and timelines.

Time runs from 0 to the wall of the ledger: start-up, the records of each process, what is done
after its last one, and the gap to the next all have their place, so the end of the series is the
sum of the owners.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterator
from math import ceil, isnan, nan

import msgspec

from instride.explain.baseline import Regime
from instride.explain.ledger import Ledger
from instride.explain.processes import Process
from instride.explain.restarts import failed_launches, vain_launches
from instride.explain.spans import Owner

OWNERS = tuple(Owner)
"""A record's owner is kept as its position in this list."""
LOST = OWNERS.index(Owner.LOST)
KEPT_OF_BUCKET = 3
"""The fastest, the median and the slowest record of a stretch stand for it."""


class Quiet(msgspec.Struct, frozen=True):
    """Time without steps: start-up, work after the last step, or nothing at all."""

    owner: Owner
    begin_s: float
    end_s: float
    after: int
    """How many records came before it."""


class Series(msgspec.Struct):
    """Records in the order of the log, in columns."""

    index: array[int]
    """Of the record in the run; all of them unless the series was thinned out."""
    step: array[int]
    begin_s: array[float]
    """When the steps of the record began, since the beginning of the run."""
    end_s: array[float]
    value_s: array[float]
    """Seconds a step; NaN where the log does not tell."""
    owner: bytearray
    """Who the record's time beyond the baseline belongs to, as a position in `OWNERS`."""
    shared: dict[int, list[tuple[int, float]]]
    """Records with several owners, by their position here: each with its seconds, the most
    expensive first."""
    quiet: list[Quiet]
    wall_s: float
    """Where the time ends."""

    def __len__(self) -> int:
        return len(self.index)


def series(ledger: Ledger) -> Series:
    """All records of a run, each with its place in time."""
    run = ledger.timeline.run
    size = len(run)
    made = Series(
        index=array("q", range(size)),
        step=array("q", run.step),
        begin_s=array("d", bytes(8 * size)),
        end_s=array("d", bytes(8 * size)),
        value_s=array("d", bytes(8 * size)),
        owner=bytearray(size),
        shared={},
        quiet=[],
        wall_s=0.0,
    )
    _set_owners(ledger, made)
    unseen: defaultdict[int, float] = defaultdict(float)
    for span in ledger.spans:
        if not span.is_closing:
            unseen[span.begin] += span.unseen_s
    _stand_still(made, Owner.RESTART, failed_launches(ledger.timeline)[1], 0)
    _stand_still(made, Owner.STARTUP, ledger.accounts[Owner.STARTUP].seconds, 0)
    pairs = zip(ledger.timeline.processes, ledger.regimes, strict=True)
    for position, (process, own) in enumerate(pairs):
        if position:
            gap_s = ledger.restarts[position - 1].gap_s or 0.0
            _stand_still(made, Owner.RESTART, gap_s, process.begin)
        for regime in own:
            _lay_out(ledger, process, regime, unseen, made)
        for span in ledger.spans:
            if span.is_closing and span.end == process.end:
                _stand_still(made, span.owner, span.cost_s, process.end)
    _stand_still(made, Owner.RESTART, vain_launches(ledger.timeline)[1], size)
    return made


def thinned(full: Series, most: int) -> Series:
    """At most so many records; of every stretch the fastest, the median and the slowest stay."""
    size = len(full)
    if size <= most:
        return full
    width = ceil(KEPT_OF_BUCKET * size / most)
    kept: list[int] = []
    for begin in range(0, size, width):
        known = [
            (value, at)
            for at, value in enumerate(full.value_s[begin : begin + width], begin)
            if not isnan(value)
        ]
        known.sort()
        if known:
            kept += sorted({known[0][1], known[len(known) // 2][1], known[-1][1]})
    return Series(
        index=array("q", (full.index[at] for at in kept)),
        step=array("q", (full.step[at] for at in kept)),
        begin_s=array("d", (full.begin_s[at] for at in kept)),
        end_s=array("d", (full.end_s[at] for at in kept)),
        value_s=array("d", (full.value_s[at] for at in kept)),
        owner=bytearray(full.owner[at] for at in kept),
        shared={now: full.shared[at] for now, at in enumerate(kept) if at in full.shared},
        quiet=full.quiet,
        wall_s=full.wall_s,
    )


def _stand_still(made: Series, owner: Owner, seconds: float, after: int) -> None:
    if seconds > 0:
        made.quiet.append(Quiet(owner, made.wall_s, made.wall_s + seconds, after))
        made.wall_s += seconds


def _lay_out(
    ledger: Ledger, process: Process, regime: Regime, unseen: dict[int, float], made: Series
) -> None:
    """Put the records of a regime one after the other; unprinted steps take the baseline."""
    timeline, now = ledger.timeline, made.wall_s
    for index in range(regime.begin, regime.end):
        took_s: float = timeline.seconds[index]
        timed = timeline.timed_steps(index, process)
        value_s = took_s / timed
        if timeline.is_single and timeline.is_single[index]:
            took_s += (timeline.num_steps(index, process) - 1) * regime.base_s
        made.begin_s[index] = now
        now += took_s + unseen.get(index, 0.0)
        made.end_s[index] = now
        made.value_s[index] = value_s if value_s > 0 else nan
    made.wall_s = now


def _set_owners(ledger: Ledger, made: Series) -> None:
    """The owner of each record: of several the most expensive, and what each of them has.

    Lost work is the ordinary time of a record, so what is beyond that gives it its colour.
    """
    dearest: defaultdict[int, float] = defaultdict(float)
    several: set[int] = set()
    for position, begin, end, each_s in _parts(ledger):
        for index in range(begin, end):
            if made.owner[index] not in (0, position):
                several.add(index)
            if position == LOST:
                made.owner[index] = position
            elif each_s >= dearest[index]:
                dearest[index] = each_s
                made.owner[index] = position
    costs: defaultdict[int, defaultdict[int, float]] = defaultdict(lambda: defaultdict(float))
    for position, begin, end, each_s in _parts(ledger) if several else ():
        for index in several.intersection(range(begin, end)):
            costs[index][position] += each_s
    for index, parts in costs.items():
        made.shared[index] = sorted(parts.items(), key=lambda part: -part[1])


def _parts(ledger: Ledger) -> Iterator[tuple[int, int, int, float]]:
    """What records have besides ordinary computing: an owner, a stretch, seconds of each record."""
    for restart in ledger.restarts:
        num_lost = sum(end - begin for _, begin, end in restart.lost)
        for _, begin, end in restart.lost:
            yield LOST, begin, end, restart.lost_s / num_lost
    for span in ledger.spans:
        if not span.is_closing and span.owner is not Owner.COMPUTE:
            length = max(1, span.end - span.begin)
            yield OWNERS.index(span.owner), span.begin, span.end, span.cost_s / length
