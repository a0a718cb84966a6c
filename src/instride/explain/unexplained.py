"""Slow records that no marker explains: data stalls, combs, slow zones, single slow steps."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import ceil, inf, log
from statistics import median

import msgspec

from instride.explain.aftermath import is_smeared
from instride.explain.excess import SLOW, Excess
from instride.explain.pauses import OWNER_OF
from instride.explain.processes import Process
from instride.explain.rhythm import Comb, find_combs
from instride.explain.spans import Owner, Span, Told
from instride.explain.timeline import Timeline
from instride.steps.model import EventKind

ALONE = 0.5
"""A single slow step without a marker is worth a word from +50 %."""
JITTER = 0.02
"""If more records than this are slow by themselves, the step time simply jitters."""
NO_JITTER = 10.0
"""Times the usual cost of such slow steps from which one is a pause, amid whatever jitter."""
ZONE = 3
"""Slow records in a row that are a zone."""
MOST_SLOW = 20_000
FAR_LONGER = 2.0
"""Times the usual cost of its comb that a tooth may take; the rest has another reason."""
COINCIDENCE = 0.05
"""Zones that chance alone may make in a process."""


class Beat(msgspec.Struct, frozen=True):
    """Marked pauses at equal distances: whose, and at which step of the period."""

    owner: Owner
    phase: int


def unexplained(excess: Excess, usual_data_s: float, periods: dict[int, Beat]) -> list[Span]:
    """Spans for what is left; `periods` are the distances of marked pauses."""
    if is_smeared(excess):
        _drop_smear(excess)
    spans = _data_stalls(excess, usual_data_s)
    spans += _said(excess, EventKind.COMPILE, Owner.WARMUP, ALONE)
    spans += _said(excess, EventKind.FLUSH, Owner.UNKNOWN, SLOW)
    zones, _ = _zones(excess, reach=1)
    combs = _combs(excess, periods)
    more, single = _zones(excess, reach=2)
    spans += zones + combs + more
    most = max(3, JITTER * len(excess.process))
    if len(single) > most:
        usual_s = median(excess.left[index] for index in single)
        single = [index for index in single if excess.left[index] > NO_JITTER * usual_s]
    if len(single) <= most:
        spans += [_span(excess, [index], Owner.UNKNOWN, Told.SHAPE) for index in single]
    return spans


def marked_periods(timeline: Timeline, process: Process) -> dict[int, Beat]:
    """How many steps lie between marked pauses of one kind, where that is regular."""
    found: dict[int, Beat] = {}
    step = timeline.run.step
    at_of: dict[Owner, list[int]] = {}
    for at, events in sorted(timeline.events_at.items()):
        if process.begin <= at < process.end:
            for owner in {OWNER_OF[event.kind] for event in events}:
                named = [e.step for e in events if e.step is not None]
                at_of.setdefault(owner, []).append(named[0] if named else step[at])
    for owner in (Owner.SAVE, Owner.EVAL):
        steps = at_of.get(owner, [])
        gaps = Counter(b - a for a, b in pairwise(steps))
        if gaps and gaps.most_common(1)[0][1] >= 2:
            period = max(1, gaps.most_common(1)[0][0])
            phase = Counter(each % period for each in steps).most_common(1)[0][0]
            found[period] = Beat(owner, phase)
    return found


def _drop_smear(excess: Excess) -> None:
    """Forget slow records right after a slow one: a moving average still holds that one."""
    slow = sorted(excess.left)
    for before, index in pairwise(slow):
        if index == before + 1 and index not in excess.timeline.events_at:
            del excess.left[index]


def _slow(excess: Excess) -> list[int]:
    return sorted(index for index in excess.left if excess.remains_slow(index))


def _data_stalls(excess: Excess, usual_data_s: float) -> list[Span]:
    """Slow records whose excess lies, for the most part, in the time that they waited for data."""
    if not excess.timeline.run.data:
        return []
    spans = []
    for index in _slow(excess):
        stalled_s = excess.stalled_s(index, usual_data_s)
        if stalled_s >= 0.5 * excess.left[index]:
            spans.append(_span(excess, [index], Owner.DATA, Told.STATED, stalled_s))
    return spans


def _said(excess: Excess, kind: EventKind, owner: Owner, share: float) -> list[Span]:
    """Slow records before which the log says that something of this kind happened."""
    process = excess.process
    said: dict[int, list[int]] = {}
    for event in excess.timeline.run.events:
        if event.kind is kind and process.begin <= event.at < process.end:
            said.setdefault(event.at, []).append(event.line)
    spans = []
    for index, lines in said.items():
        if excess.remains_slow(index, share):
            span = _span(excess, [index], owner, Told.MARKER)
            span.lines = sorted({*lines[:2], *span.lines})
            spans.append(span)
    return spans


def _combs(excess: Excess, periods: dict[int, Beat]) -> list[Span]:
    run, process = excess.timeline.run, excess.process
    slow = _slow(excess)
    if not 3 <= len(slow) <= MOST_SLOW:
        return []
    index_of = {run.step[index]: index for index in slow}
    first, last = run.step[process.begin], run.step[process.end - 1]
    slack = process.stride if process.stride > 1 else 0
    spans = []
    for comb in find_combs(sorted(index_of), first, last, slack):
        beat, reach = periods.get(comb.period), slack + 1
        records = [index_of[step] for step in comb.steps]
        owner = Owner.UNKNOWN
        if beat is not None and _is_near(comb, beat.phase, reach):
            owner = beat.owner
            if owner is Owner.SAVE and _are_stated(excess, records):
                owner = Owner.AFTERMATH
        usual_s = median(excess.left[index] for index in records)
        for index in records:
            span = _span(excess, [index], owner, Told.PERIOD, FAR_LONGER * usual_s)
            span.period = comb.period
            if beat is not None and owner is beat.owner:
                # The pause is that of the marked step, which is not always the one it slowed.
                span.named_step = span.last_step - _beside(span.last_step, beat.phase, comb, reach)
            spans.append(span)
    return spans


def _is_near(comb: Comb, phase: int, reach: int) -> bool:
    """Whether a comb has the phase of marked pauses; it may show in the step beside theirs."""
    return (comb.offset - phase + reach) % comb.period <= 2 * reach


def _beside(step: int, phase: int, comb: Comb, reach: int) -> int:
    """How many steps a tooth comes after the marked step that it is near to."""
    return (step - phase + reach) % comb.period - reach


def _are_stated(excess: Excess, records: list[int]) -> bool:
    """Whether the log says what the saves in or before slow records took: the rest is no save."""
    events_at = excess.timeline.events_at
    stated = [
        any(
            event.seconds is not None and OWNER_OF[event.kind] is Owner.SAVE
            for at in (index - 1, index)
            for event in events_at.get(at, ())
        )
        for index in records
    ]
    return sum(stated) >= 0.5 * len(records)


def _shortest_zone(excess: Excess, num_slow: int, reach: int) -> int:
    """Slow records in a row that are no coincidence, given how many there are."""
    share = min(0.9, num_slow / len(excess.process))
    near = 1 - (1 - share) ** reach
    if near <= 0:
        return ZONE
    return max(ZONE, ceil(log(COINCIDENCE / len(excess.process)) / log(near)))


def _zones(excess: Excess, reach: int) -> tuple[list[Span], list[int]]:
    """Stretches of slow records, at most `reach` apart, and single slow ones."""
    zones: list[Span] = []
    single: list[int] = []
    stretch: list[int] = []
    slow = _slow(excess)
    shortest = _shortest_zone(excess, len(slow), reach)
    for index in [*slow, None]:
        if index is not None and stretch and index - stretch[-1] <= reach:
            stretch.append(index)
            continue
        if len(stretch) >= shortest:
            zones.append(_span(excess, stretch, Owner.UNKNOWN, Told.SHAPE))
        else:
            single += [i for i in stretch if excess.factor(i) >= 1 + ALONE]
        stretch = [] if index is None else [index]
    return zones, [i for i in single if excess.is_slow(i, ALONE)]


def _span(
    excess: Excess, records: list[int], owner: Owner, told: Told, most_s: float = inf
) -> Span:
    """A span over slow records, which takes what is left of them, up to `most_s` of each."""
    timeline, process = excess.timeline, excess.process
    first, last = records[0], records[-1]
    factor = median(excess.factor_of_rest(index) for index in records)
    extra_s = unseen_s = 0.0
    for index in records:
        beyond = excess.take(index, min(most_s, excess.left[index]))
        extra_s += beyond
        if len(records) > 1:
            timed = timeline.timed_steps(index, process)
            unseen_s += beyond * (timeline.num_steps(index, process) - timed)
    lines = {timeline.run.line[first], timeline.run.line[last]}
    return Span(
        owner=owner,
        first_step=timeline.run.step[first] - timeline.timed_steps(first, process) + 1,
        last_step=timeline.run.step[last],
        extra_s=extra_s,
        factor=factor,
        told=told,
        begin=first,
        end=last + 1,
        lines=sorted(lines),
        unseen_s=unseen_s,
    )
