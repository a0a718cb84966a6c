"""What the page shows, before it is put into words: the same in every language."""

from __future__ import annotations

from pathlib import Path

import msgspec

from instride.cli.render.html.places import Place, places
from instride.explain.causes.curing import Cure
from instride.explain.explaining import LONGEST_TEXT, Explanation
from instride.explain.findings import NOTABLE, Finding
from instride.explain.ledger import Account
from instride.explain.series import Series, series, thinned
from instride.explain.spans import Owner

MOST_RECORDS = 100_000
"""Drawn in the chart; of a longer log the fastest, median and slowest of every stretch."""
MOST_PLACES = 6
"""Named under a finding; all are marked in the chart."""


class Quote(msgspec.Struct, frozen=True):
    """A line of the log."""

    file: str | None
    """Where there are several."""
    line: int
    text: str


class Start(msgspec.Struct, frozen=True):
    """Where a process after the first one began."""

    begin_s: float
    step: int


class Told(msgspec.Struct, frozen=True):
    """A finding with all that the page links it to."""

    finding: Finding
    share: float
    is_of_wall: bool
    places: list[Place]
    quotes: list[Quote]
    cures: list[Cure]


class Content(msgspec.Struct, frozen=True):
    explanation: Explanation
    names: list[str]
    """Of the logs, without their directories."""
    shown: Series
    owners: list[tuple[Owner, Account]]
    """Those that have time: computing, the others by what they cost, gaps."""
    whole_s: float
    """What shares are of: the wall without the gaps between processes."""
    has_gap: bool
    restarts: list[Start]
    notable: list[Told]
    small: list[Told]

    @property
    def num_runs(self) -> int:
        """Trainings in the log: a process that began anew is one of its own."""
        return 1 + sum(restart.is_new_run for restart in self.explanation.ledger.restarts)

    @property
    def num_restarts(self) -> int:
        return len(self.explanation.ledger.restarts) + 1 - self.num_runs

    @property
    def is_counted_twice(self) -> bool:
        """Whether a step has several owners, so that their steps are more than there are."""
        ledger = self.explanation.ledger
        return sum(each.steps for each in ledger.accounts.values()) > ledger.num_steps

    @property
    def told(self) -> list[Told]:
        return self.notable + self.small


def content(explanation: Explanation) -> Content:
    ledger = explanation.ledger
    full = series(ledger)
    notable: list[Told] = []
    small: list[Told] = []
    for finding in sorted(explanation.findings, key=_order):
        told = _told(explanation, finding, full)
        is_notable = finding.cost_s >= NOTABLE * ledger.running_s
        (notable if is_notable else small).append(told)
    return Content(
        explanation=explanation,
        names=[Path(source.name).name for source in explanation.sources],
        shown=thinned(full, MOST_RECORDS),
        owners=sorted(
            (each for each in ledger.accounts.items() if each[1].seconds > 0),
            key=lambda each: (_rank(each[0]), -each[1].seconds),
        ),
        whole_s=ledger.running_s,
        has_gap=ledger.has_gap,
        restarts=[
            Start(full.begin_s[process.begin], full.step[process.begin])
            for process in ledger.timeline.processes[1:]
        ],
        notable=notable,
        small=small,
    )


def _rank(owner: Owner) -> int:
    """Computing first, what is no time of the training last."""
    return {Owner.COMPUTE: 0, Owner.RESTART: 2}.get(owner, 1)


def _order(finding: Finding) -> tuple[bool, float]:
    """Most expensive first, gaps between processes last: they are no time of the training."""
    return finding.owner is Owner.RESTART, -finding.cost_s


def _told(explanation: Explanation, finding: Finding, full: Series) -> Told:
    ledger = explanation.ledger
    is_of_wall = finding.owner is Owner.RESTART
    of_s = ledger.wall_s if is_of_wall else ledger.running_s
    quotes = [_quote(explanation, line) for line in finding.lines]
    return Told(
        finding=finding,
        share=min(1.0, finding.cost_s / of_s),
        is_of_wall=is_of_wall,
        places=places(finding, ledger, full),
        quotes=quotes,
        cures=explanation.cures(finding),
    )


def _quote(explanation: Explanation, line: int) -> Quote:
    name, number = explanation.place(line)
    file = Path(name).name if len(explanation.sources) > 1 else None
    return Quote(file, number, explanation.texts.get(line, "").strip()[:LONGEST_TEXT])
