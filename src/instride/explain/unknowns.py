"""What the log could not tell: said in a line each, so that nobody takes silence for an answer."""

from __future__ import annotations

from itertools import pairwise

import msgspec

from instride.explain.ledger import Ledger
from instride.explain.pauses import OWNER_OF
from instride.explain.spans import Owner, Told
from instride.steps.model import Pauses, Sampling


class Unknown(msgspec.Struct, frozen=True):
    id: str
    facts: dict[str, float | int | str | None]


def unknowns(ledger: Ledger) -> list[Unknown]:
    """Gaps in what the log shows, the widest first."""
    timeline = ledger.timeline
    run, dialect = timeline.run, timeline.run.dialect
    found = []
    stride = max(process.stride for process in timeline.processes)
    if any(timeline.is_single):
        found.append(Unknown("sampled", {"every": stride, "share": 1 - 1 / max(2, stride)}))
    elif stride > 1 and dialect.sampling is Sampling.TOTALS:
        found.append(Unknown("totals-only", {}))
    elif stride > 1:
        found.append(Unknown("averaged", {"every": stride}))
    if run.clock_resolution_s:
        found.append(Unknown("coarse-clock", {"seconds": run.clock_resolution_s}))
    found += _hidden(ledger)
    if any(span.is_joint for span in ledger.spans):
        found.append(Unknown("joint", {}))
    found += _rough_split(ledger)
    if timeline.clock_backwards:
        line = run.line[timeline.clock_backwards[0]]
        count = len(timeline.clock_backwards)
        found.append(Unknown("clock-backwards", {"count": count, "line": line}))
    if len(timeline.processes) > 1 and all(restart.gap_s is None for restart in ledger.restarts):
        found.append(Unknown("gaps", {}))
    found += _unused_saves(ledger)
    if run.num_duplicates:
        found.append(Unknown("ranks", {"count": run.num_duplicates}))
    return found + [Unknown(f"note-{note.id}", note.facts) for note in run.notes]


def _rough_split(ledger: Ledger) -> list[Unknown]:
    """Pauses whose parts rest on the first evaluation, which had no save."""
    for process in ledger.timeline.processes:
        own = [span for span in ledger.spans if process.begin <= span.begin < process.end]
        if any(span.told is Told.SPLIT for span in own):
            pauses = [span for span in own if span.owner in (Owner.EVAL, Owner.SAVE)]
            alone = [span for span in pauses if span.told is not Told.SPLIT]
            return [Unknown("rough-split", {"step": (alone or pauses)[0].step})]
    return []


def _hidden(ledger: Ledger) -> list[Unknown]:
    """Marked pauses whose time is in no number that the log has, nor can be estimated."""
    timeline = ledger.timeline
    estimated = {span.begin for span in ledger.spans if span.unseen_s}
    counts = dict.fromkeys((Owner.EVAL, Owner.SAVE), 0)
    for at, events in timeline.events_at.items():
        process = timeline.process_of(at)
        is_left_out = timeline.run.dialect.pauses is Pauses.NONE and not timeline.run.wall
        is_unseen = at not in estimated and timeline.is_unseen(at, process)
        if is_left_out or is_unseen:
            for owner in {OWNER_OF[event.kind] for event in events if event.seconds is None}:
                counts[owner] += 1
    if not any(counts.values()):
        return []
    facts: dict[str, float | int | str | None] = {
        "evals": counts[Owner.EVAL],
        "saves": counts[Owner.SAVE],
    }
    return [Unknown("hidden", facts)]


def _unused_saves(ledger: Ledger) -> list[Unknown]:
    """Trainings that began anew beside a save: whether they were to go on from it."""
    run, found = ledger.timeline.run, []
    for before, process in pairwise(ledger.timeline.processes):
        save = process.unused_save
        if save is not None:
            facts: dict[str, float | int | str | None] = {
                "first_step": run.step[process.begin],
                "last_step": run.step[before.end - 1],
                "saved_step": save.step,
            }
            found.append(Unknown("unused-save", facts))
    # One of them is enough to ask the question.
    return found[-1:]
