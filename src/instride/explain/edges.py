"""What lies around the steps of a process: the start-up before them, the closing work after."""

from __future__ import annotations

from collections.abc import Callable
from math import isnan

from instride.explain.baseline import Regime
from instride.explain.pauses import OWNER_OF
from instride.explain.processes import Process
from instride.explain.restarts import launched
from instride.explain.spans import Owner, Span, Told
from instride.explain.timeline import Timeline


def startup_s(timeline: Timeline) -> float:
    """From the launch of the first process that trained to the beginning of its first step."""
    run = timeline.run
    begin = launched(run)
    if begin is None or not run.clock_is_absolute or isnan(run.wall_at(0)):
        return 0.0
    return max(0.0, run.wall[0] - timeline.seconds[0] - begin.wall)


def closing_spans(timeline: Timeline, regime_of: Callable[[int, Process], Regime]) -> list[Span]:
    """Work after the last record of each process: a closing save, an evaluation, or unknown."""
    spans = []
    for process in timeline.processes:
        last = process.end - 1
        base_s = regime_of(last, process).base_s
        after_s = _after(timeline, process)
        events = timeline.closing.get(process.end, [])
        stated = sum(event.seconds or 0.0 for event in events)
        left_s = max(stated, after_s) if after_s is not None else stated
        for event in events:
            if event.seconds:
                taken = min(left_s, event.seconds)
                left_s -= taken
                owner = OWNER_OF[event.kind]
                spans.append(
                    _span(timeline, process, owner, taken, base_s, Told.STATED, event.line)
                )
        if left_s <= 0:
            continue
        unstated = [event for event in events if not event.seconds]
        if unstated:
            owner = OWNER_OF[unstated[-1].kind]
            line = unstated[-1].line
            spans.append(_span(timeline, process, owner, left_s, base_s, Told.MARKER, line))
            spans[-1].is_joint = len({OWNER_OF[event.kind] for event in unstated}) > 1
        else:
            # Steps that were done but not printed any more are ordinary ones.
            own = Owner.UNKNOWN if left_s > 1.5 * process.stride * base_s else Owner.COMPUTE
            line = timeline.run.line[last]
            spans.append(_span(timeline, process, own, left_s, base_s, Told.SHAPE, line))
    return spans


def _after(timeline: Timeline, process: Process) -> float | None:
    """Seconds between the last record and the last sign of life, if the log has a clock."""
    after_s = timeline.end_of_life(process) - timeline.run.wall_at(process.end - 1)
    return after_s if after_s > 0 else None


def _span(
    timeline: Timeline,
    process: Process,
    owner: Owner,
    seconds: float,
    base_s: float,
    told: Told,
    line: int,
) -> Span:
    last = process.end - 1
    step = timeline.run.step[last]
    return Span(
        owner=owner,
        first_step=step,
        last_step=step,
        extra_s=seconds,
        factor=1 + seconds / base_s if base_s else 1.0,
        told=told,
        begin=last,
        end=process.end,
        lines=sorted({line, timeline.run.line[last]}),
        is_closing=True,
    )
