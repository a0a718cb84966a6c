"""Where in the run a finding is: what a click on it shows."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from instride.explain.findings import Finding
from instride.explain.ledger import Ledger
from instride.explain.restarts import Restart
from instride.explain.series import Quiet, Series
from instride.explain.spans import Owner, Span

MOST_PLACES = 300
"""Of one finding: the most expensive are marked in the chart."""


class Place(msgspec.Struct, frozen=True):
    """A stretch of the run, by steps and by time."""

    first_step: int
    last_step: int
    begin_s: float
    end_s: float
    cost_s: float


def places(finding: Finding, ledger: Ledger, full: Series) -> list[Place]:
    """The stretches that a finding speaks of, most expensive first; `full` has every record."""
    if finding.owner in (Owner.RESTART, Owner.STARTUP):
        found = [_of_quiet(each, full) for each in full.quiet if each.owner is finding.owner]
    elif finding.owner is Owner.LOST:
        found = [place for each in ledger.restarts for place in _of_lost(each, full)]
    else:
        found = [_of_span(span, full) for span in finding.spans or _by_evidence(finding, ledger)]
    if not found:
        found = list(_by_steps(finding, full))
    return sorted(found, key=lambda place: -place.cost_s)[:MOST_PLACES]


def _by_evidence(finding: Finding, ledger: Ledger) -> list[Span]:
    """Spans of the same owner that quote the same lines."""
    lines = set(finding.lines)
    return [
        each for each in ledger.spans if each.owner is finding.owner and lines & set(each.lines)
    ]


def _of_span(span: Span, full: Series) -> Place:
    begin_s, end_s = full.begin_s[span.begin], full.end_s[span.end - 1]
    if span.is_closing:
        begin_s, end_s = end_s, end_s + span.cost_s
    return Place(full.step[span.begin], full.step[span.end - 1], begin_s, end_s, span.cost_s)


def _of_quiet(quiet: Quiet, full: Series) -> Place:
    before, after = max(0, quiet.after - 1), min(quiet.after, len(full) - 1)
    steps = sorted((full.step[before], full.step[after]))
    return Place(steps[0], steps[1], quiet.begin_s, quiet.end_s, quiet.end_s - quiet.begin_s)


def _of_lost(restart: Restart, full: Series) -> Iterable[Place]:
    num_lost = sum(end - begin for _, begin, end in restart.lost)
    for _, begin, end in restart.lost:
        cost_s = restart.lost_s * (end - begin) / num_lost
        yield Place(
            full.step[begin], full.step[end - 1], full.begin_s[begin], full.end_s[end - 1], cost_s
        )


def _by_steps(finding: Finding, full: Series) -> Iterable[Place]:
    """A change is where it begins, a drift where the facts say; all else is everywhere."""
    facts = finding.facts
    first = facts.get("first_step", facts.get("step"))
    last = facts.get("last_step", first)
    if first in full.step and last in full.step:
        begin, end = full.step.index(int(first or 0)), full.step.index(int(last or 0))
        begin, end = min(begin, end), max(begin, end)
        ends_s = full.begin_s[begin], full.end_s[end]
        yield Place(full.step[begin], full.step[end], *ends_s, finding.cost_s)
    else:
        yield Place(min(full.step), max(full.step), 0.0, full.wall_s, finding.cost_s)
