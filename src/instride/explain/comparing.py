"""Two runs side by side: what a change brought, as far as their logs can tell."""

from __future__ import annotations

from instride.explain.caveats import blind_spots, caveats
from instride.explain.compared import (
    Change,
    Comparison,
    Cost,
    FindingChange,
    Group,
    OwnerChange,
    Side,
)
from instride.explain.explaining import Explanation
from instride.explain.findings import NOTABLE, Finding
from instride.explain.pace import ACCIDENTS, PAUSES, PER_STEP, Pace, is_closing, is_once
from instride.explain.spans import Owner

SAME_SPEED = 0.02
"""Share by which ordinary steps of equal runs differ: other nodes, other temperatures."""
SAME_COST = 0.1
"""Share by which the cost of a pause differs from one run to the next."""
NEAR_PERIODS = 1.02
JOINT = "eval-and-save"


def compare(before: Explanation, after: Explanation) -> Comparison:
    """What is cheaper, dearer, gone and new in the run after."""
    one, other = Pace(before), Pace(after)
    one.lean_on(other)
    other.lean_on(one)
    return _Comparing(one, other).result()


class _Comparing:
    def __init__(self, before: Pace, after: Pace) -> None:
        self.before, self.after = before, after
        self.blind = blind_spots(before, after)
        self.is_joint = before.has_joint or after.has_joint
        self.is_data_told = before.has_data == after.has_data
        base_s, new_s = before.ledger.baseline_s, after.ledger.baseline_s
        self.is_as_fast = abs(new_s - base_s) <= SAME_SPEED * base_s
        self.owners = [self._owner(owner) for owner in Owner]
        counted = [each for each in self.owners if each.won_per_1000_s is not None]
        self.before_s = sum(each.before.per_1000_s or 0.0 for each in counted)
        self.after_s = sum(each.after.per_1000_s or 0.0 for each in counted)

    def result(self) -> Comparison:
        once_before, once_after = self._once()
        return Comparison(
            before=_side(self.before, self.before_s, once_before),
            after=_side(self.after, self.after_s, once_after),
            owners=[each for each in self.owners if each.before.seconds or each.after.seconds],
            findings=self._findings(),
            groups=self._groups(),
            is_as_fast=self.is_as_fast,
            caveats=caveats(self.before, self.after, self.blind, self.before_s),
        )

    def _owner(self, owner: Owner) -> OwnerChange:
        before, after = _cost(self.before, owner), _cost(self.after, owner)
        return OwnerChange(owner, before, after, owner not in self.blind)

    def _groups(self) -> list[Group]:
        by_owner = {each.owner: each for each in self.owners if each.won_per_1000_s is not None}
        found = []
        for owners in self._told_together():
            costs = [by_owner[owner] for owner in owners if owner in by_owner]
            named = {each.owner for each in costs if each.before.seconds or each.after.seconds}
            if self.is_joint and Owner.EVAL in named:
                named.add(Owner.SAVE)
            name = "+".join(owner for owner in owners if owner in named)
            before_s = sum(each.before.per_1000_s or 0.0 for each in costs)
            after_s = sum(each.after.per_1000_s or 0.0 for each in costs)
            least = SAME_SPEED if owners == (Owner.COMPUTE,) else NOTABLE
            if abs(before_s - after_s) > least * self.before_s:
                found.append(Group(name, before_s, after_s))
        return sorted(found, key=lambda group: -abs(group.won_s))

    def _told_together(self) -> list[tuple[Owner, ...]]:
        """A save and its aftermath are one matter; so is an evaluation that a log does not part
        from it."""
        pauses = [PAUSES] if self.is_joint else [PAUSES[:1], PAUSES[1:]]
        single = [Owner.UNKNOWN]
        if self.is_data_told:
            single.append(Owner.DATA)
        if self.is_as_fast:
            single.append(Owner.COMPUTE)
        return [*pauses, *((owner,) for owner in single)]

    def _once(self) -> tuple[float, float]:
        """What one start costs, of the parts that both logs have."""
        parts = [_warmup_s]
        parts += [part for part in (_startup_s, _closing_s) if part(self.before) * part(self.after)]
        return sum(part(self.before) for part in parts), sum(part(self.after) for part in parts)

    def _findings(self) -> list[FindingChange]:
        pairs: list[tuple[list[Finding], list[Finding]]] = []
        for side, pace in enumerate((self.before, self.after)):
            for finding in pace.explanation.findings:
                for pair in pairs:
                    if self._is_alike((pair[0] or pair[1])[0], finding):
                        pair[side].append(finding)
                        break
                else:
                    pairs.append(([], [finding]) if side else ([finding], []))
        found = [self._change(before, after) for before, after in pairs]
        return sorted(found, key=lambda each: -abs(each.won_s))

    def _is_alike(self, one: Finding, other: Finding) -> bool:
        if self._kind(one) != self._kind(other):
            return False
        periods = [finding.facts.get("period") for finding in (one, other)]
        short, long = sorted(float(period or 0.0) for period in periods)
        return long <= NEAR_PERIODS * short or long == 0.0

    def _kind(self, finding: Finding) -> str:
        """What one of the logs does not split is compared as a whole."""
        return JOINT if self.is_joint and finding.id in ("eval", "save") else finding.id

    def _change(self, before: list[Finding], after: list[Finding]) -> FindingChange:
        finding = (before or after)[0]
        before_s = _cost_of(before, self.before)
        after_s = _cost_of(after, self.after)
        change = self._judge(finding, before_s, after_s)
        whole = self.before.ledger.running_s if is_once(finding) else self.before_s
        is_large = abs((before_s or 0.0) - (after_s or 0.0)) >= NOTABLE * whole
        is_told = change not in ("same", "unseen") and finding.within is None
        is_notable = is_large and is_told and finding.owner not in ACCIDENTS
        return FindingChange(change, before, after, before_s, after_s, is_once(finding), is_notable)

    def _judge(self, finding: Finding, before_s: float | None, after_s: float | None) -> Change:
        if before_s is not None and after_s is not None:
            if abs(before_s - after_s) <= SAME_COST * max(before_s, after_s):
                return "same"
            return "cheaper" if after_s < before_s else "dearer"
        other = self.after if after_s is None else self.before
        if is_closing(finding):
            is_unseen = not other.ledger.timeline.closing
        elif finding.owner is Owner.STARTUP:
            is_unseen = not other.has_wall
        else:
            is_unseen = finding.owner in self.blind
            is_unseen |= finding.owner is Owner.DATA and not self.is_data_told
        if is_unseen:
            return "unseen"
        return "gone" if after_s is None else "new"


def _side(pace: Pace, per_1000_s: float, once_s: float) -> Side:
    ledger = pace.ledger
    return Side(
        names=[source.name for source in pace.explanation.sources],
        dialect=pace.run.dialect.name,
        title=pace.run.dialect.title,
        num_steps=pace.num_steps,
        sampled_every=pace.stride,
        wall_s=ledger.wall_s,
        running_s=ledger.running_s,
        baseline_s=ledger.baseline_s,
        closing_s=pace.closing_s,
        once_s=once_s,
        per_1000_s=per_1000_s,
    )


def _cost(pace: Pace, owner: Owner) -> Cost:
    seconds = pace.seconds(owner)
    per_1000_s = pace.per_1000(owner) if owner in PER_STEP else None
    return Cost(seconds, seconds / pace.ledger.running_s, per_1000_s)


def _cost_of(findings: list[Finding], pace: Pace) -> float | None:
    """Per 1000 steps; by start for what comes with each start; else as it is."""
    if not findings:
        return None
    if not is_once(findings[0]):
        return sum(pace.finding_per_1000(finding) for finding in findings)
    starts = pace.num_starts if findings[0].owner is Owner.WARMUP else 1
    return sum(finding.cost_s for finding in findings) / starts


def _warmup_s(pace: Pace) -> float:
    return pace.seconds(Owner.WARMUP) / pace.num_starts


def _startup_s(pace: Pace) -> float:
    return pace.seconds(Owner.STARTUP)


def _closing_s(pace: Pace) -> float:
    return pace.closing_s
