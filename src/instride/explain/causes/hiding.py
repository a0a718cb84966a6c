"""Time that no printed number shows: what the wall clock has more than the printed durations."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from math import isnan

import msgspec

from instride.explain.causes.contract import Case, Cause, Facts, Finding, Rung
from instride.explain.pauses import OWNER_OF
from instride.explain.spans import Owner
from instride.steps.model import Pauses, Sampling

CLEAR = 0.05
"""Share of an interval that must be missing from the printed duration."""
EVERYWHERE = 0.5
"""Share of the records from which hidden time is part of every step."""
MOST_LINES = 3
REASONS = frozenset({"epoch-stalls", "worker-turns", "shard-switches", "data-stalls"})
"""Findings that say what the time between two steps was for, with all of its seconds."""


class _Hidden(msgspec.Struct):
    seconds: float = 0.0
    marked_s: float = 0.0
    """Of intervals with an evaluation or a save."""
    count: int = 0
    num_compared: int = 0
    owners: Counter[Owner] = msgspec.field(default_factory=Counter)
    dearest: list[tuple[float, int]] = []
    """Seconds and line of the records that hide most."""


def hidden_time(case: Case) -> list[Finding]:
    """The log has a wall clock and prints how long steps took; the clock goes on by more than the
    printed durations add up to, 5 % of an interval at least."""
    run = case.ledger.timeline.run
    is_whole = run.dialect.sampling is not Sampling.EVERY_KTH
    if not run.wall or not is_whole or run.dialect.pauses is Pauses.SMOOTHED:
        return []
    hidden = _compare(case)
    if not hidden.seconds:
        return []
    is_marked = hidden.marked_s >= 0.5 * hidden.seconds
    is_everywhere = hidden.count > EVERYWHERE * hidden.num_compared
    owner, name = Owner.UNKNOWN, None
    if is_marked and hidden.owners:
        owner = hidden.owners.most_common(1)[0][0]
        name = owner.value
    elif is_everywhere:
        owner, name = Owner.COMPUTE, Owner.COMPUTE.value
    facts: Facts = {
        "count": hidden.count,
        "marked_s": hidden.marked_s,
        "everywhere": int(is_everywhere),
        "marked": int(is_marked),
        "typical_s": hidden.seconds / hidden.count,
    }
    lines = sorted(line for _, line in hidden.dearest)
    found = Finding("hidden-time", owner, hidden.seconds, "medium", facts, lines, Rung.STATED)
    found.within = name or Owner.UNKNOWN.value
    return [found]


def _compare(case: Case) -> _Hidden:
    timeline = case.ledger.timeline
    run, hidden = timeline.run, _Hidden()
    if not run.wall:
        return hidden
    least_s = 2 * run.clock_resolution_s
    told = case.records_told_by(REASONS)
    for process in timeline.processes:
        rest = slice(process.begin + 1, process.end)
        steps = pairwise(run.step.since(process.begin))
        walls = pairwise(run.wall[process.begin : process.end])
        each = zip(run.seconds[rest], steps, walls, strict=False)
        for index, (printed_s, (before, step), (since, now)) in enumerate(each, rest.start):
            stated_s = printed_s * (step - before)
            if isnan(stated_s + now + since):
                continue
            hidden.num_compared += 1
            took_s = timeline.seconds[index]
            missing_s = took_s - stated_s
            if missing_s > least_s and missing_s > CLEAR * took_s and index not in told:
                _add(case, hidden, index, missing_s)
    return hidden


def _add(case: Case, hidden: _Hidden, index: int, missing_s: float) -> None:
    timeline = case.ledger.timeline
    hidden.seconds += missing_s
    hidden.count += 1
    events = timeline.events_at.get(index, [])
    if events:
        hidden.marked_s += missing_s
        # Sorted: of two that are equally often there, the same one must win every time.
        hidden.owners.update(sorted({OWNER_OF[event.kind] for event in events}))
    hidden.dearest.append((missing_s, timeline.run.line[index]))
    hidden.dearest = sorted(hidden.dearest, reverse=True)[:MOST_LINES]


CAUSES = (
    Cause(
        "hidden-time",
        (Owner.EVAL, Owner.SAVE, Owner.COMPUTE, Owner.UNKNOWN),
        hidden_time,
        ("trust-clock", "print-around"),
    ),
)
