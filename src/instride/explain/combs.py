"""Slow steps at equal distances: whose they are, and what each of them costs."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from statistics import median

import msgspec

from instride.explain.excess import Excess
from instride.explain.pauses import OWNER_OF
from instride.explain.processes import Process
from instride.explain.rhythm import Comb, find_combs
from instride.explain.spans import Owner, Span, Told
from instride.explain.timeline import Timeline

MOST_SLOW = 20_000
FAR_LONGER = 2.0
"""Times the usual cost of its comb that a tooth may take; the rest has another reason."""


class Beat(msgspec.Struct, frozen=True):
    """Marked pauses at equal distances: whose, and at which step of the period."""

    owner: Owner
    phase: int


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


def known_combs(excess: Excess, periods: dict[int, Beat]) -> list[Span]:
    """Combs with teeth behind saves and between them, whose owner can be no save."""
    beats = {period: beat for period, beat in periods.items() if beat.owner is not Owner.SAVE}
    step = excess.timeline.run.step
    teeth: dict[tuple[int, int], list[int]] = {}
    for index, period in sorted(excess.teeth.items()):
        if excess.remains_slow(index):
            teeth.setdefault((period, step[index] % period), []).append(index)
    spans = []
    for (period, offset), records in teeth.items():
        comb = Comb(period, offset, tuple(step[index] for index in records))
        spans += _comb_spans(excess, comb, records, beats)
    return spans


def other_combs(excess: Excess, periods: dict[int, Beat]) -> list[Span]:
    """Combs among all the slow records that are left."""
    run, process = excess.timeline.run, excess.process
    slow = excess.slow()
    if not 3 <= len(slow) <= MOST_SLOW:
        return []
    index_of = {run.step[index]: index for index in slow}
    first, last = run.step[process.begin], run.step[process.end - 1]
    spans = []
    for comb in find_combs(sorted(index_of), first, last, _slack(process)):
        records = [index_of[step] for step in comb.steps]
        spans += _comb_spans(excess, comb, records, periods)
    return spans


def _slack(process: Process) -> int:
    return process.stride if process.stride > 1 else 0


def _comb_spans(
    excess: Excess, comb: Comb, records: list[int], periods: dict[int, Beat]
) -> list[Span]:
    """A span for each tooth, of whoever has marked pauses at these steps."""
    beat, reach = periods.get(comb.period), _slack(excess.process) + 1
    owner = Owner.UNKNOWN
    if beat is not None and _is_near(comb, beat.phase, reach):
        owner = beat.owner
        if owner is Owner.SAVE and _are_stated(excess, records):
            owner = Owner.AFTERMATH
    usual_s = median(excess.left[index] for index in records)
    spans = []
    for index in records:
        span = excess.span([index], owner, Told.PERIOD, FAR_LONGER * usual_s)
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
