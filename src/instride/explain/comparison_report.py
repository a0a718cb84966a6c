"""The answer of `compare`, in the shape of the JSON contract (schema 1).

`docs/reference/compare.schema.json` is generated from these structures and checked by a test.
"""

from __future__ import annotations

import msgspec

from instride.explain.compared import Change, Comparison, FindingChange, OwnerChange, Side
from instride.explain.findings import Finding
from instride.explain.languages.compare import CompareWords

SCHEMA = 1


class RunEntry(msgspec.Struct, frozen=True):
    dialect: str
    source: list[str]
    steps: int
    """Steps of progress: those that were lost and done again count once."""
    sampled_every: int
    """1 if every step is printed, k if every k-th is."""
    wall_s: float
    running_s: float
    """The wall time without the gaps between processes."""
    baseline_s: float
    """What an ordinary step takes."""
    per_1000_s: float
    """What 1000 steps take, of all that can be compared and does not come once."""
    once_s: float
    """What one start takes (start-up, warm-up, the end), of the parts that both logs show."""


class CostEntry(msgspec.Struct, frozen=True):
    seconds: float
    """Without what comes once, after the last step."""
    share: float
    """Of `running_s`."""
    per_1000_s: float | None
    """Null for owners that do not come with the steps: starts, ends, crashes."""


class OwnerEntry(msgspec.Struct, frozen=True):
    before: CostEntry
    after: CostEntry
    won_per_1000_s: float | None
    """Negative if it costs more; null if it does not count or cannot be compared."""


class FindingCost(msgspec.Struct, frozen=True):
    cost_s: float
    """In the whole log."""
    comparable_s: float
    """Per 1000 steps; per start for what comes once."""
    sentences: list[str]


class FindingChangeEntry(msgspec.Struct, frozen=True):
    id: str
    owner: str
    change: Change
    """`unseen`: one of the logs is too short, or hides too much, to tell."""
    notable: bool
    """It changes the time by 1 % or more."""
    once: bool
    """It comes with a start, an end or a crash, not with the steps."""
    before: FindingCost | None
    after: FindingCost | None


class WonEntry(msgspec.Struct, frozen=True):
    """Negative where time was lost."""

    per_1000_s: float
    share: float
    """Of what 1000 steps took before."""
    over_before_s: float
    """Over as many steps as the run before had."""
    once_s: float
    """At each start and end."""


class ComparisonReport(msgspec.Struct, frozen=True):
    """What `instride compare --json` prints."""

    schema: int
    answer: str
    """What the change brought, in a few sentences."""
    different: bool
    before: RunEntry
    after: RunEntry
    won: WonEntry
    owners: dict[str, OwnerEntry]
    findings: list[FindingChangeEntry]
    """Largest change first."""
    not_comparable: list[str]
    """What cannot be compared, or only roughly, one sentence each."""


def comparison_report(comparison: Comparison, words: CompareWords) -> ComparisonReport:
    """The comparison in the shape of the JSON contract."""
    return ComparisonReport(
        schema=SCHEMA,
        answer=words.compare_answer(comparison),
        different=comparison.is_different,
        before=_run(comparison.before),
        after=_run(comparison.after),
        won=WonEntry(
            per_1000_s=comparison.won_per_1000_s,
            share=comparison.won_share,
            over_before_s=comparison.won_over_before_s,
            once_s=comparison.won_once_s,
        ),
        owners={each.owner.value: _owner(each) for each in comparison.owners},
        findings=[_finding(each, words) for each in comparison.findings],
        not_comparable=[words.compare_caveat(caveat) for caveat in comparison.caveats],
    )


def _run(side: Side) -> RunEntry:
    return RunEntry(
        dialect=side.dialect,
        source=side.names,
        steps=side.num_steps,
        sampled_every=side.sampled_every,
        wall_s=side.wall_s,
        running_s=side.running_s,
        baseline_s=side.baseline_s,
        per_1000_s=side.per_1000_s,
        once_s=side.once_s,
    )


def _owner(change: OwnerChange) -> OwnerEntry:
    before, after = (
        CostEntry(cost.seconds, cost.share, cost.per_1000_s)
        for cost in (change.before, change.after)
    )
    return OwnerEntry(before, after, change.won_per_1000_s)


def _finding(change: FindingChange, words: CompareWords) -> FindingChangeEntry:
    def cost(findings: list[Finding], comparable_s: float | None) -> FindingCost | None:
        if comparable_s is None:
            return None
        total_s = sum(finding.cost_s for finding in findings)
        return FindingCost(total_s, comparable_s, [words.sentence(each) for each in findings])

    return FindingChangeEntry(
        id=change.finding.id,
        owner=change.finding.owner.value,
        change=change.change,
        notable=change.is_notable,
        once=change.is_once,
        before=cost(change.before, change.before_s),
        after=cost(change.after, change.after_s),
    )
