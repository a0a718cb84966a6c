"""Causes of the owners `restart` and `lost`."""

from __future__ import annotations

import msgspec

from instride.explain.causes.contract import Case, Cause, Facts, Finding, Rung
from instride.explain.ledger import Ledger
from instride.explain.report import Confidence
from instride.explain.restarts import Restart, failed_launches, vain_launches
from instride.explain.spans import Owner
from instride.steps.model import EventKind

LOOP = 3
"""Launches in a row without a new step that are a loop."""


def gaps(case: Case) -> list[Finding]:
    """The clock goes on between the last sign of life of a process and the first step of the
    next one."""
    found = [restart for restart in case.ledger.restarts if restart.gap_s]
    if not found:
        return []
    worst = max(found, key=lambda restart: restart.gap_s or 0.0)
    facts: Facts = {
        "count": len(found),
        "last_step": worst.last_step,
        "resumed_at": worst.resumed_at,
        "worst_s": worst.gap_s,
        "launches": sum(restart.num_launches for restart in found),
        "anew": int(worst.is_new_run or worst.is_from_scratch),
    }
    cost_s = sum(restart.gap_s or 0.0 for restart in found)
    lines = [worst.last_line, worst.line]
    return [Finding("restart", Owner.RESTART, cost_s, "high", facts, lines, Rung.STATED)]


def never_again(case: Case) -> list[Finding]:
    """After the last step the log has launches, and none of them trains."""
    launches, vain_s = vain_launches(case.ledger.timeline)
    if not vain_s:
        return []
    run = case.ledger.timeline.run
    facts: Facts = {"launches": launches, "last_step": run.step[-1]}
    lines = [run.line[-1], run.ends[-1].line]
    return [Finding("never-again", Owner.RESTART, vain_s, "high", facts, lines, Rung.MARKER)]


def failed_before(case: Case) -> list[Finding]:
    """Before the first step the log has several launches: all but the last came to nothing."""
    failed, failed_s = failed_launches(case.ledger.timeline)
    if not failed_s:
        return []
    run = case.ledger.timeline.run
    starts = [event.line for event in run.events if event.kind is EventKind.START and not event.at]
    facts: Facts = {"launches": failed, "first_step": run.step[0]}
    lines = sorted({starts[0], starts[-1]})
    return [Finding("failed-launches", Owner.RESTART, failed_s, "high", facts, lines, Rung.MARKER)]


def lost_work(case: Case) -> list[Finding]:
    """Step numbers go back at a start: the steps in between were done twice."""
    losses = [restart for restart in case.ledger.restarts if restart.lost_s]
    if not losses:
        return []
    worst = max(losses, key=lambda restart: restart.lost_s)
    facts: Facts = {
        "count": len(losses),
        "last_step": worst.last_step,
        "resumed_at": worst.resumed_at,
        "steps": sum(restart.lost_steps for restart in losses),
        "worst_steps": worst.lost_steps,
        "from_scratch": int(worst.is_from_scratch),
    }
    cost_s = sum(restart.lost_s for restart in losses)
    from_scratch = any(restart.is_from_scratch for restart in losses)
    notes = case.ledger.timeline.run.notes
    is_guessed = any("begun_at" in note.facts for note in notes)
    confidence: Confidence = "medium" if from_scratch or is_guessed else "high"
    lines = [worst.last_line, worst.line]
    return [Finding("lost", Owner.LOST, cost_s, confidence, facts, lines, Rung.MARKER)]


class _Attempts(msgspec.Struct):
    """Launches in a row that trained no step that had not been trained before."""

    count: int = 0
    seconds: float = 0.0
    lines: list[int] = []


def crash_loop(case: Case) -> list[Finding]:
    """Three launches in a row or more, and none gets beyond the furthest step before them."""
    worst = max(_attempts(case.ledger), key=lambda each: each.count, default=_Attempts())
    if worst.count < LOOP:
        return []
    facts: Facts = {"launches": worst.count, "seconds": worst.seconds}
    lines = sorted(set(worst.lines))[:3]
    # Files that all start from scratch may as well be several trainings.
    are_files = len(case.ledger.timeline.run.line_offsets) > 1
    confidence: Confidence = "medium" if are_files else "high"
    found = Finding("crash-loop", Owner.RESTART, worst.seconds, confidence, facts, lines)
    found.rung = Rung.MARKER
    found.within = "restart"
    return [found]


def _attempts(ledger: Ledger) -> list[_Attempts]:
    timeline = ledger.timeline
    run = timeline.run
    before: list[Restart | None] = [None, *ledger.restarts]
    found = [_Attempts(lines=[run.line[0]])]
    furthest = -1
    for process, restart in zip(timeline.processes, before, strict=True):
        if process.is_new_run:
            furthest = -1
            found.append(_Attempts())
        now, last = found[-1], run.step[process.end - 1]
        is_vain = last <= furthest
        # Launches before the first step are told by themselves.
        num_failed = process.num_launches - 1 if restart else 0
        now.count += num_failed + is_vain
        if is_vain or num_failed:
            now.seconds += (restart.gap_s or 0.0) if restart else 0.0
            now.lines.append(run.line[process.begin])
        if is_vain:
            now.seconds += sum(timeline.seconds[process.begin : process.end])
        else:
            furthest = last
            found.append(_Attempts(lines=[run.line[process.end - 1]]))
    launches, vain_s = vain_launches(timeline)
    found[-1].count += launches
    found[-1].seconds += vain_s
    return found


CAUSES = (
    Cause("crash-loop", (Owner.RESTART,), crash_loop, ("read-error", "limit-restarts")),
    Cause("restart", (Owner.RESTART,), gaps, ("resume-by-itself",)),
    Cause("failed-launches", (Owner.RESTART,), failed_before, ("read-error",)),
    Cause("never-again", (Owner.RESTART,), never_again, ("read-error",)),
    Cause("lost", (Owner.LOST,), lost_work, ("save-more", "save-on-signal")),
)
