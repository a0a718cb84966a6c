"""Aftermath: steps slowed down by what goes on after a save, until the speed comes back.

A single save must leave a clear plateau; where there are several, most of them must. The steps
after a save are compared with those before it, not with the whole run.
"""

from __future__ import annotations

from statistics import median

from instride.explain.excess import SLOW, Excess
from instride.explain.pauses import OWNER_OF
from instride.explain.spans import Owner, Span, Told
from instride.steps.model import Pauses

QUIET = 3
"""Ordinary records in a row that end an aftermath; what works on the file may start late."""
FAINT = 0.06
"""Share beyond the baseline that counts once a slow-down after saves is established."""
CONSISTENT = 0.8
"""Share of the saves after which steps must be slower, for a slow-down under 15 %."""
WINDOW = 10
"""Records before and after a save that are compared."""
STRONG = 1.5
"""A plateau of this factor after a save needs no second one to be believed."""


def aftermaths(excess: Excess) -> list[Span]:
    """Spans for the plateaus after the saves of one process."""
    if is_smeared(excess):
        return []
    saves = _save_records(excess)
    share = FAINT if _is_consistently_slower(excess, saves) else SLOW
    plateaus = [plateau for save in saves if (plateau := _plateau(excess, save, share))]
    believed = [
        plateau
        for plateau in plateaus
        if len(plateaus) >= 0.5 * len(saves) or _median_factor(excess, plateau) >= STRONG
    ]
    return [_span(excess, plateau) for plateau in believed]


def is_smeared(excess: Excess) -> bool:
    """Whether the times are moving averages, which hold a pause for many records after it."""
    is_smoothed = excess.timeline.run.dialect.pauses is Pauses.SMOOTHED
    return is_smoothed and not excess.timeline.has_wall(excess.process.end - 1, excess.process)


def _save_records(excess: Excess) -> list[int]:
    """Records whose interval holds a save; that of the next record, if there is one."""
    events, process = excess.timeline.events_at, excess.process
    return sorted(
        at
        for at, found in events.items()
        if process.begin <= at < process.end
        and any(OWNER_OF[event.kind] is Owner.SAVE for event in found)
    )


def _is_consistently_slower(excess: Excess, saves: list[int]) -> bool:
    """Whether steps after saves are slower than those before, save by save (a paired test)."""
    process, timeline = excess.process, excess.timeline
    ratios = []
    for save in saves:
        before = range(max(process.begin, save - WINDOW), save)
        after = range(save + 1, min(process.end, save + 1 + WINDOW))
        if len(before) < 3 or len(after) < 3:
            continue
        ratios.append(
            median(timeline.value(i, process) for i in after)
            / max(1e-12, median(timeline.value(i, process) for i in before))
        )
    slower = sum(ratio > 1.1 for ratio in ratios)
    return len(ratios) >= 3 and slower >= CONSISTENT * len(ratios)


def _plateau(excess: Excess, save: int, share: float) -> list[int]:
    """Slow records that follow a save without a longer interruption."""
    found: list[int] = []
    quiet = 0
    events = excess.timeline.events_at
    for index in range(save + 1, excess.process.end):
        if index in events:
            if _is_save(excess, index):
                break
            continue
        if excess.is_slow(index, share):
            found.append(index)
            quiet = 0
        else:
            quiet += 1
            if quiet == QUIET:
                break
    return found if len(found) >= _shortest(excess, save, found) else []


def _shortest(excess: Excess, save: int, found: list[int]) -> int:
    """Slow records that make a plateau.

    One will do if it comes right after a save of which the log states how long training waited for
    it, and covers several steps: then it is no rest of the save, and no single slow step.
    """
    timeline = excess.timeline
    if excess.process.stride == 1:
        return 3
    is_stated = any(event.seconds for event in timeline.events_at[save])
    is_next = found[:1] == [save + 1]
    if is_stated and is_next and timeline.timed_steps(save + 1, excess.process) >= 3:
        return 1
    return 2


def _is_save(excess: Excess, index: int) -> bool:
    return any(OWNER_OF[e.kind] is Owner.SAVE for e in excess.timeline.events_at[index])


def _median_factor(excess: Excess, plateau: list[int]) -> float:
    return median(excess.factor(index) for index in plateau)


def _span(excess: Excess, plateau: list[int]) -> Span:
    timeline, process = excess.timeline, excess.process
    extra_s = unseen_s = 0.0
    for index in range(plateau[0], plateau[-1] + 1):
        if index in timeline.events_at:
            continue
        beyond = excess.rest(index)
        if beyond < -excess.base_s(index):
            continue  # A jump of the step counter, not a fast step.
        extra_s += beyond
        between = timeline.num_steps(index, process) - timeline.timed_steps(index, process)
        unseen_s += beyond * between
        excess.left.pop(index, None)
    first = plateau[0]
    covered = timeline.timed_steps(first, process)
    middle = plateau[len(plateau) // 2]
    lines = [timeline.run.line[first], timeline.run.line[middle], timeline.run.line[plateau[-1]]]
    return Span(
        owner=Owner.AFTERMATH,
        first_step=timeline.run.step[first] - covered + 1,
        last_step=timeline.run.step[plateau[-1]],
        extra_s=extra_s,
        factor=_median_factor(excess, plateau),
        told=Told.MARKER,
        begin=first,
        end=plateau[-1] + 1,
        lines=sorted(set(lines)),
        unseen_s=unseen_s,
    )
