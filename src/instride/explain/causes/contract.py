"""What a cause is: how it is told from a ledger, and what a finding of it holds.

A finding holds facts, not words: a language turns them into a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from enum import StrEnum

import msgspec

from instride.explain.ledger import Ledger
from instride.explain.report import Confidence
from instride.explain.spans import Owner, Span

Facts = dict[str, float | int | str | None]


class Rung(StrEnum):
    """How a finding was told: the ladder of confidence, best first."""

    STATED = "stated"
    """The log says how long it took."""
    MARKER = "marker"
    """The log marks it, and the rule of the dialect says where its time lands."""
    PERIOD = "period"
    """It comes at the distance of a setting, or of pauses that are marked."""
    SHAPE = "shape"
    """Nothing but the times themselves."""


class Finding(msgspec.Struct):
    id: str
    """Of its cause."""
    owner: Owner
    cost_s: float
    confidence: Confidence
    facts: Facts
    lines: list[int]
    rung: Rung = Rung.SHAPE
    spans: list[Span] = []
    """What it is made of; empty where that is not a number of spans."""
    instead: tuple[str, ...] = ()
    """Remedies that hold for this trainer, in place of those of the cause."""
    within: str | None = None
    """The finding that its seconds are part of: they are told twice, but counted once."""


class Case:
    """A ledger on trial: causes are asked in turn, and a span is told by one of them only."""

    def __init__(self, ledger: Ledger, settings: Mapping[str, int] | None = None) -> None:
        self.ledger = ledger
        self.settings = settings or {}
        """Intervals that the log prints at its head, by their names."""
        self.drifting: set[int] = set()
        """First records of the processes whose speed changes all the time."""
        self._told: dict[int, str] = {}
        self._spans: dict[Owner, list[Span]] = {}
        for span in ledger.spans:
            self._spans.setdefault(span.owner, []).append(span)

    def spans(self, owner: Owner) -> list[Span]:
        """Spans of an owner that no finding has told yet."""
        return [span for span in self._spans.get(owner, []) if id(span) not in self._told]

    def settle(self, spans: Iterable[Span], name: str) -> None:
        """Note that a finding of this name has told some spans."""
        self._told.update((id(span), name) for span in spans)

    def records_told_by(self, names: Container[str]) -> set[int]:
        """Records of the spans that findings of these names have told."""
        told = [span for span in self.ledger.spans if self._told.get(id(span)) in names]
        return {index for span in told for index in range(span.begin, span.end)}


class Cause(msgspec.Struct, frozen=True):
    id: str
    """Of its findings; languages have a title, a sentence and alternatives for it."""
    owners: tuple[Owner, ...]
    """Whose seconds a finding of it may take."""
    signature: Callable[[Case], list[Finding]]
    """How it is told; its docstring says so to people, on the page of the cause."""
    remedies: tuple[str, ...]
    """What helps, best first; languages have the words, `trainers.py` the lines to change."""

    @property
    def told_by(self) -> str:
        """How it is told, in words."""
        return " ".join((self.signature.__doc__ or "").split())
