"""What a comparison of two runs found: facts, which a language or the JSON contract put out."""

from __future__ import annotations

from typing import Literal

import msgspec

from instride.explain.findings import NOTABLE, Finding
from instride.explain.spans import Owner

Change = Literal["gone", "new", "cheaper", "dearer", "same", "unseen"]
"""`unseen`: one of the logs is too short, or hides too much, to tell."""


class Side(msgspec.Struct, frozen=True):
    """One of the two runs."""

    names: list[str]
    dialect: str
    title: str
    num_steps: int
    """Steps of progress: those that were lost and done again count once."""
    sampled_every: int
    wall_s: float
    running_s: float
    baseline_s: float
    closing_s: float
    """After the last step, far longer than the pauses before it."""
    once_s: float
    """What one start costs: start-up, warm-up, the end; as far as both logs show it."""
    per_1000_s: float
    """What 1000 steps take with all owners that can be compared, without what comes once."""


class Cost(msgspec.Struct, frozen=True):
    seconds: float
    share: float
    """Of the time that the run was running: gaps between processes are left out."""
    per_1000_s: float | None
    """None for owners that do not come with the steps: starts, ends, crashes."""


class OwnerChange(msgspec.Struct, frozen=True):
    owner: Owner
    before: Cost
    after: Cost
    is_comparable: bool

    @property
    def won_per_1000_s(self) -> float | None:
        before_s, after_s = self.before.per_1000_s, self.after.per_1000_s
        if not self.is_comparable or before_s is None or after_s is None:
            return None
        return before_s - after_s


class FindingChange(msgspec.Struct, frozen=True):
    change: Change
    before: list[Finding]
    """Most expensive first; empty if it is new."""
    after: list[Finding]
    before_s: float | None
    """Per 1000 steps; as it is where it comes once."""
    after_s: float | None
    is_once: bool
    is_notable: bool

    @property
    def finding(self) -> Finding:
        """The one to name it by."""
        return (self.before or self.after)[0]

    @property
    def won_s(self) -> float:
        return (self.before_s or 0.0) - (self.after_s or 0.0)


class Group(msgspec.Struct, frozen=True):
    """Owners that are told in one breath, and what they cost per 1000 steps."""

    name: str
    before_s: float
    after_s: float

    @property
    def won_s(self) -> float:
        return self.before_s - self.after_s


class Caveat(msgspec.Struct, frozen=True):
    """Something that cannot be compared, or only roughly."""

    id: str
    facts: dict[str, float | int | str | None]


class Comparison(msgspec.Struct, frozen=True):
    before: Side
    after: Side
    owners: list[OwnerChange]
    findings: list[FindingChange]
    """Largest change first."""
    groups: list[Group]
    """What costs notably more or less, largest change first; computing only if it is not the
    ordinary step that changed."""
    is_as_fast: bool
    """An ordinary step takes as long as before."""
    caveats: list[Caveat]

    @property
    def won_per_1000_s(self) -> float:
        return self.before.per_1000_s - self.after.per_1000_s

    @property
    def won_share(self) -> float:
        whole = self.before.per_1000_s
        return self.won_per_1000_s / whole if whole else 0.0

    @property
    def won_over_before_s(self) -> float:
        """What the change would have brought in a run as long as the one before."""
        return self.won_per_1000_s * self.before.num_steps / 1000

    @property
    def won_once_s(self) -> float:
        return self.before.once_s - self.after.once_s

    @property
    def is_once_notable(self) -> bool:
        return abs(self.won_once_s) >= NOTABLE * self.before.running_s

    @property
    def is_different(self) -> bool:
        is_one_notable = any(each.is_notable for each in self.findings)
        return not self.is_as_fast or bool(self.groups) or self.is_once_notable or is_one_notable
