"""The answer of `explain`, in the shape of the JSON contract (schema 1).

`docs/reference/explain.schema.json` is generated from these structures and checked by a test.
"""

from __future__ import annotations

from typing import Literal

import msgspec

SCHEMA = 1

Confidence = Literal["high", "medium", "low"]
RungName = Literal["stated", "marker", "period", "shape"]


class Evidence(msgspec.Struct, frozen=True, gc=False):
    line: int
    """Counted from 1, by line feeds."""
    text: str
    source: str | msgspec.UnsetType = msgspec.UNSET
    """The file, where there are several."""


class Steps(msgspec.Struct, frozen=True):
    observed: int
    """Records in the log, repeated steps included."""
    first: int
    last: int
    sampled_every: int
    """1 if every step is printed, k if every k-th is."""


class Cadence(msgspec.Struct, frozen=True):
    """A rhythm of the loop itself, such as gradient accumulation."""

    period: int
    offset: int
    """Step modulo period of the slowest."""


class OwnerShare(msgspec.Struct, frozen=True):
    seconds: float
    share: float
    """Of the wall, gaps included, unlike on the screen; the shares of all owners add up to 1."""
    steps: int


class SpanEntry(msgspec.Struct, frozen=True, gc=False):
    owner: str
    first_step: int
    last_step: int
    extra_s: float
    """Wall time beyond the baseline."""
    factor: float
    measured: bool
    """False where part of it is an estimate for steps that were not printed."""
    evidence: list[Evidence]


class RestartEntry(msgspec.Struct, frozen=True):
    line: int
    resumed_at: int
    gap_s: float | None
    lost_steps: int
    lost_s: float
    """Time of the lost steps at their baseline, as in the owner `lost`."""


class Remedy(msgspec.Struct, frozen=True):
    text: str
    change: str | None
    """A config line or a command, where one is known for the trainer."""
    saves_s: float | None
    """At most, of the time of this run; null where the log cannot tell."""


class Alternative(msgspec.Struct, frozen=True):
    """What else a finding could be."""

    text: str
    check: str
    """The next measurement, which tells."""


class FindingEntry(msgspec.Struct, frozen=True):
    id: str
    owner: str
    cost_s: float
    share: float
    """Of the wall, as that of an owner."""
    confidence: Confidence
    rung: RungName
    """How it was told: stated by the log, marked, by its distance, or by shape only."""
    part_of: str | None
    """The finding, or else the owner, that its seconds are already counted in."""
    sentence: str
    evidence: list[Evidence]
    remedies: list[Remedy]
    alternatives: list[Alternative]


class AdviceEntry(msgspec.Struct, frozen=True):
    """An interval to set, worked out from what pauses cost in this log."""

    id: str
    text: str
    change: str | None
    """The line or option for the trainer recognised."""
    saves_s: float | None
    """What this run would have saved."""


class Report(msgspec.Struct, frozen=True):
    """What `instride explain --json` prints."""

    schema: int
    dialect: str
    source: list[str]
    steps: Steps
    baseline_s: float
    cadence: Cadence | None
    owners: dict[str, OwnerShare]
    spans: list[SpanEntry]
    restarts: list[RestartEntry]
    findings: list[FindingEntry]
    unknown: list[str]
    """What the log could not tell, one sentence each."""
    advice: list[AdviceEntry]
