"""What helps against a finding, with the line to change and what that would save."""

from __future__ import annotations

import msgspec

from instride.explain.advice import TARGET, Failures, daly, failures_of, pausing
from instride.explain.causes import CAUSES
from instride.explain.causes.contract import Finding
from instride.explain.causes.trainers import TRAINERS, does_already, line_for, trainer_of
from instride.explain.ledger import Ledger
from instride.explain.spans import Owner

REMOVES = frozenset(
    {"save-async", "keep-workers", "prefetch-shard", "delete-later", "work-later", "save-once"}
)
"""Remedies that take away the whole cost, at best."""
SWITCHES = frozenset({"save-if-better"})
"""Remedies that are nothing without the line of a trainer."""


class Cure(msgspec.Struct, frozen=True):
    id: str
    """Of the remedy; languages have the words."""
    change: str | None
    saves_s: float | None
    """At most, of the time of this run; None where the log cannot tell."""


def cures(finding: Finding, ledger: Ledger, mtbf_s: float | None = None) -> list[Cure]:
    """What helps against a finding: best first, but lines of the trainer before mere words.

    Intervals are those of the advice, for the same mean time between failures.
    """
    failures = failures_of(ledger, mtbf_s)
    dialect = trainer_of(ledger.timeline.run)
    own = TRAINERS.get(dialect, {})
    found = []
    for remedy in finding.instead or CAUSES[finding.id].remedies:
        if does_already(dialect, remedy) or (remedy in SWITCHES and remedy not in own):
            continue
        value, saves_s = _value(remedy, finding, ledger, failures)
        if remedy in REMOVES:
            saves_s = finding.cost_s
        found.append(Cure(remedy, line_for(dialect, remedy, value), saves_s))
    return sorted(found, key=lambda cure: cure.change is None or cure.id not in own)


def _value(
    remedy: str, finding: Finding, ledger: Ledger, failures: Failures | None
) -> tuple[int | None, float | None]:
    """The value to set, and what it would save."""
    if remedy in ("evaluate-less", "save-less"):
        return _longer_interval(remedy, finding, ledger, failures)
    if remedy == "save-more":
        return _shorter_interval(ledger, failures), None
    if remedy == "cache-compiled" and finding.id == "warmup":
        # The first start has to compile; later ones need not.
        starts = int(finding.facts["starts"] or 1)
        return None, finding.cost_s * (starts - 1) / starts if starts > 1 else None
    if remedy == "more-workers" and "period" in finding.facts:
        return 2 * int(finding.facts["period"] or 1), None
    return None, None


def _longer_interval(
    remedy: str, finding: Finding, ledger: Ledger, failures: Failures | None
) -> tuple[int | None, float | None]:
    """The interval that brings the cost under one percent, and what it would save.

    Saving less often is no gain if more work is lost: where failures are known, they decide.
    """
    pauses = pausing(ledger, Owner.EVAL if remedy == "evaluate-less" else Owner.SAVE)
    if pauses is None or pauses.share <= TARGET:
        return None, None
    steps = pauses.steps_for(pauses.cost_s * (1 / TARGET - 1))
    if failures is not None and (remedy == "save-less" or pauses.setting):
        steps = pauses.steps_within(daly(pauses.cost_s, failures.mean_s))
    if steps <= pauses.every or pauses.is_far_beyond(steps):
        return None, None
    saved = pauses.share_saved(steps)
    return steps, None if saved is None else saved * finding.cost_s


def _shorter_interval(ledger: Ledger, failures: Failures | None) -> int | None:
    """The interval by Daly's rule, if it is shorter than the present one."""
    pauses = pausing(ledger, Owner.SAVE)
    if pauses is None or failures is None:
        return None
    steps = pauses.steps_within(daly(pauses.cost_s, failures.mean_s))
    return steps if pauses.count > 1 and steps < pauses.every else None
