"""Slow records that no marker explains: data stalls, combs, slow zones, single slow steps."""

from __future__ import annotations

from itertools import pairwise
from math import ceil, log
from statistics import median

from instride.explain.combs import Beat, known_combs, other_combs
from instride.explain.excess import SLOW, Excess
from instride.explain.spans import Owner, Span, Told
from instride.steps.model import EventKind

ALONE = 0.5
"""A single slow step without a marker is worth a word from +50 %."""
JITTER = 0.02
"""If more records than this are slow by themselves, the step time simply jitters."""
NO_JITTER = 10.0
"""Times the usual cost of such slow steps from which one is a pause, amid whatever jitter."""
ZONE = 3
"""Slow records in a row that are a zone."""
COINCIDENCE = 0.05
"""Zones that chance alone may make in a process."""


def unexplained(excess: Excess, usual_data_s: float, periods: dict[int, Beat]) -> list[Span]:
    """Spans for what is left; `periods` are the distances of marked pauses."""
    if excess.is_smeared:
        _drop_smear(excess)
    spans = _data_stalls(excess, usual_data_s)
    spans += _said(excess, EventKind.COMPILE, Owner.WARMUP, ALONE)
    spans += _said(excess, EventKind.FLUSH, Owner.UNKNOWN, SLOW)
    spans += known_combs(excess, periods)
    zones, _ = _zones(excess, reach=1)
    combs = other_combs(excess, periods)
    more, single = _zones(excess, reach=2)
    spans += zones + combs + more
    most = max(3, JITTER * len(excess.process))
    if len(single) > most:
        usual_s = median(excess.left[index] for index in single)
        single = [index for index in single if excess.left[index] > NO_JITTER * usual_s]
    if len(single) <= most:
        spans += [excess.span([index], Owner.UNKNOWN, Told.SHAPE) for index in single]
    return spans


def _drop_smear(excess: Excess) -> None:
    """Forget slow records right after a slow one: a moving average still holds that one."""
    slow = sorted(excess.left)
    for before, index in pairwise(slow):
        if index == before + 1 and index not in excess.timeline.events_at:
            del excess.left[index]


def _data_stalls(excess: Excess, usual_data_s: float) -> list[Span]:
    """Slow records whose excess lies, for the most part, in the time that they waited for data."""
    if not excess.timeline.run.data:
        return []
    spans = []
    for index in excess.slow():
        stalled_s = excess.stalled_s(index, usual_data_s)
        if stalled_s >= 0.5 * excess.left[index]:
            spans.append(excess.span([index], Owner.DATA, Told.STATED, stalled_s))
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
            span = excess.span([index], owner, Told.MARKER)
            span.lines = sorted({*lines[:2], *span.lines})
            spans.append(span)
    return spans


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
    slow = excess.slow()
    shortest = _shortest_zone(excess, len(slow), reach)
    for index in [*slow, None]:
        if index is not None and stretch and index - stretch[-1] <= reach:
            stretch.append(index)
            continue
        if len(stretch) >= shortest:
            zones.append(excess.span(stretch, Owner.UNKNOWN, Told.SHAPE))
        else:
            single += [i for i in stretch if excess.factor(i) >= 1 + ALONE]
        stretch = [] if index is None else [index]
    return zones, [i for i in single if excess.is_slow(i, ALONE)]
