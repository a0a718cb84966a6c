"""The run as a Chrome trace, for Perfetto and other timeline viewers.

One track for the processes, one for the steps, and one for each owner; a counter has the step time.
Times are microseconds since the beginning of the log, so the end of the trace is the wall.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain
from math import ceil, isnan
from pathlib import Path
from typing import Any

import msgspec

from instride.explain.explaining import Explanation
from instride.explain.ledger import Ledger
from instride.explain.series import OWNERS, Series, series
from instride.explain.spans import Owner

MOST_STEPS = 100_000
"""Events of the steps' track; in longer logs one stands for several ordinary records."""
PID = 1
PROCESSES, STEPS = 1, 2
FIRST_OWNER = 10

Event = dict[str, Any]


def write_perfetto(explanation: Explanation, path: Path) -> None:
    """Write the trace, one event a line, without ever holding all of it."""
    encode = msgspec.json.encode
    about = {"source": [source.name for source in explanation.sources], "made by": "instride"}
    with path.open("wb") as out:
        out.write(b'{"displayTimeUnit":"ms","otherData":' + encode(about) + b',"traceEvents":[')
        separator = b"\n"
        for event in _events(explanation.ledger):
            out.write(separator + encode(event))
            separator = b",\n"
        out.write(b"\n]}\n")


def _events(ledger: Ledger) -> Iterator[Event]:
    full = series(ledger)
    yield from _names(ledger)
    yield from _processes(ledger, full)
    yield from _steps(full)
    yield from _spans(ledger, full)
    yield from _quiet(full)
    yield from _lost(ledger, full)


def _names(ledger: Ledger) -> Iterator[Event]:
    title = f"instride: {ledger.timeline.run.dialect.title}"
    yield {"ph": "M", "pid": PID, "name": "process_name", "args": {"name": title}}
    tracks = [(PROCESSES, "processes"), (STEPS, "steps")]
    tracks += [(_track(owner), owner.value) for owner in OWNERS if owner is not Owner.COMPUTE]
    for track, name in tracks:
        about = {"ph": "M", "pid": PID, "tid": track}
        yield {**about, "name": "thread_name", "args": {"name": name}}
        yield {**about, "name": "thread_sort_index", "args": {"sort_index": track}}


def _track(owner: Owner) -> int:
    return FIRST_OWNER + OWNERS.index(owner)


def _complete(track: int, name: str, begin_s: float, end_s: float, **args: Any) -> Event:
    """An event with a beginning and a duration, both rounded so that neighbours never overlap."""
    begin, end = _micros(begin_s), _micros(end_s)
    event: Event = {"ph": "X", "pid": PID, "tid": track, "name": name, "ts": begin}
    event["dur"] = round(end - begin, 3)
    if args:
        event["args"] = args
    return event


def _micros(seconds: float) -> float:
    return round(1e6 * seconds, 3)


def _processes(ledger: Ledger, full: Series) -> Iterator[Event]:
    for number, process in enumerate(ledger.timeline.processes, 1):
        first, last = full.step[process.begin], full.step[process.end - 1]
        begin_s, end_s = full.begin_s[process.begin], full.end_s[process.end - 1]
        name = f"process {number}"
        yield _complete(PROCESSES, name, begin_s, end_s, first_step=first, last_step=last)


def _steps(full: Series) -> Iterator[Event]:
    """Every record; of a long log ordinary ones together, so that viewers can still open it."""
    most = ceil(len(full) / MOST_STEPS)
    for begin, end in _groups(full, most):
        name = f"step {full.step[end - 1]}"
        if end - begin > 1:
            name = f"steps {full.step[begin]} to {full.step[end - 1]}"
        value_s = max(full.value_s[begin:end], key=lambda value: -1.0 if isnan(value) else value)
        yield _complete(STEPS, name, full.begin_s[begin], full.end_s[end - 1])
        if not isnan(value_s):
            yield {
                "ph": "C",
                "pid": PID,
                "name": "step time (ms)",
                "ts": _micros(full.begin_s[begin]),
                "args": {"ms": round(1e3 * value_s, 3)},
            }


def _groups(full: Series, most: int) -> Iterator[tuple[int, int]]:
    """Up to `most` ordinary records of one process at a time; others alone."""
    begin = 0
    while begin < len(full):
        end = begin + 1
        while (
            end < len(full)
            and end - begin < most
            and not full.owner[begin]
            and not full.owner[end]
            and full.step[end] > full.step[end - 1]
        ):
            end += 1
        yield begin, end
        begin = end


def _spans(ledger: Ledger, full: Series) -> Iterator[Event]:
    """What is beyond the baseline; pauses of one step stand in a row at its beginning."""
    used: defaultdict[int, float] = defaultdict(float)
    for span in ledger.spans:
        if span.is_closing or span.owner is Owner.COMPUTE:
            continue
        begin_s, end_s = full.begin_s[span.begin], full.end_s[span.end - 1]
        if span.end - span.begin == 1:
            begin_s += used[span.begin]
            used[span.begin] += span.cost_s
            end_s = min(end_s, begin_s + span.cost_s)
        args = {
            "first_step": span.first_step,
            "last_step": span.last_step,
            "cost_s": span.cost_s,
            "factor": span.factor,
            "told_by": span.told.value,
            "lines": span.lines,
        }
        yield _complete(_track(span.owner), span.owner.value, begin_s, max(begin_s, end_s), **args)


def _quiet(full: Series) -> Iterator[Event]:
    for each in full.quiet:
        if each.owner is not Owner.COMPUTE:
            yield _complete(_track(each.owner), each.owner.value, each.begin_s, each.end_s)


def _lost(ledger: Ledger, full: Series) -> Iterable[Event]:
    lost = chain.from_iterable(restart.lost for restart in ledger.restarts)
    for _, begin, end in sorted(lost, key=lambda each: each[1]):
        steps = {"first_step": full.step[begin], "last_step": full.step[end - 1]}
        begin_s, end_s = full.begin_s[begin], full.end_s[end - 1]
        yield _complete(_track(Owner.LOST), Owner.LOST.value, begin_s, end_s, **steps)
