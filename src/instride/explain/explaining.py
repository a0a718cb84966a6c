"""From logs to an explanation: the one entry that commands call."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import islice, pairwise
from math import isnan

import msgspec

from instride.errors import NoTimesError
from instride.explain.advice import Advice, advise
from instride.explain.causes.curing import Cure, cures
from instride.explain.findings import Finding, findings
from instride.explain.languages import LANGUAGES
from instride.explain.languages.contract import Language
from instride.explain.ledger import Ledger, build
from instride.explain.report import (
    SCHEMA,
    AdviceEntry,
    Alternative,
    Cadence,
    Evidence,
    FindingEntry,
    OwnerShare,
    Remedy,
    Report,
    RestartEntry,
    SpanEntry,
    Steps,
)
from instride.explain.settings import read_settings
from instride.explain.spans import Owner, Span
from instride.explain.unknowns import Unknown, unknowns
from instride.reasons import Reason
from instride.steps.model import Run
from instride.steps.source import Source

LONGEST_TEXT = 400
"""Characters of a line that are quoted in JSON."""


class Explanation(msgspec.Struct, frozen=True):
    """Everything that is known about a run, before it is put into words or JSON."""

    ledger: Ledger
    findings: list[Finding]
    unknowns: list[Unknown]
    sources: list[Source]
    texts: dict[int, str]
    """Lines of the log that are evidence, by numbers that count on from file to file."""
    advice: list[Advice]
    mtbf_s: float | None
    """The mean time between failures, where it is known better than the log shows it."""

    def cures(self, finding: Finding) -> list[Cure]:
        """What helps against a finding."""
        return cures(finding, self.ledger, self.mtbf_s)

    def place(self, line: int) -> tuple[str, int]:
        """The file of a line, and its number there."""
        offsets = self.ledger.timeline.run.line_offsets
        position = bisect_left(offsets, line) - 1
        return self.sources[position].name, line - offsets[position]


def explain(run: Run, sources: Sequence[Source], mtbf_s: float | None = None) -> Explanation:
    """Find the owner of every second of a run; advise for a mean time between failures."""
    _check_times(run, sources[0].name)
    ledger = build(run)
    if ledger.wall_s <= 0:
        raise NoTimesError(sources[0].name, len(run), Reason("zero-times"))
    found = findings(ledger, read_settings(sources[0]))
    wanted = {line for finding in found for line in finding.lines}
    wanted |= {line for span in ledger.spans for line in span.lines}
    return Explanation(
        ledger=ledger,
        findings=found,
        unknowns=unknowns(ledger),
        sources=list(sources),
        texts=_texts(run, sources, wanted),
        advice=advise(ledger, mtbf_s),
        mtbf_s=mtbf_s,
    )


def report(explanation: Explanation, language: Language = LANGUAGES["en"]) -> Report:
    """The explanation in the shape of the JSON contract."""
    ledger = explanation.ledger
    run, wall_s = ledger.timeline.run, ledger.wall_s
    rhythm = ledger.rhythm

    def evidence(lines: Iterable[int]) -> list[Evidence]:
        return [_evidence(explanation, line) for line in lines]

    def remedies(finding: Finding) -> list[Remedy]:
        return [
            Remedy(language.cure(each), each.change, each.saves_s)
            for each in explanation.cures(finding)
        ]

    return Report(
        schema=SCHEMA,
        dialect=run.dialect.name,
        source=[source.name for source in explanation.sources],
        steps=Steps(
            observed=len(run),
            first=run.step.lowest,
            last=run.step.highest,
            sampled_every=max(process.stride for process in ledger.timeline.processes),
        ),
        baseline_s=ledger.baseline_s,
        cadence=Cadence(rhythm.period, rhythm.offset) if rhythm else None,
        owners={
            owner.value: OwnerShare(account.seconds, account.seconds / wall_s, account.steps)
            for owner, account in ledger.accounts.items()
            if account.seconds > 0 or owner is Owner.COMPUTE
        },
        spans=[_span_entry(span, evidence(span.lines)) for span in _reported(ledger)],
        restarts=[
            RestartEntry(
                line=explanation.place(each.line)[1],
                resumed_at=each.resumed_at,
                gap_s=each.gap_s,
                lost_steps=each.lost_steps,
                lost_s=each.lost_s,
            )
            for each in ledger.restarts
        ],
        findings=[
            FindingEntry(
                id=finding.id,
                owner=finding.owner.value,
                cost_s=finding.cost_s,
                share=min(1.0, finding.cost_s / wall_s),
                confidence=finding.confidence,
                rung=finding.rung.value,
                part_of=finding.within,
                sentence=language.sentence(finding),
                evidence=evidence(finding.lines),
                remedies=remedies(finding),
                alternatives=[
                    Alternative(what, how) for what, how in language.alternatives[finding.id]
                ],
            )
            for finding in explanation.findings
        ],
        unknown=[language.unknown(each) for each in explanation.unknowns],
        advice=[
            AdviceEntry(each.id, language.advice(each), each.change, each.saves_s)
            for each in explanation.advice
        ],
    )


def _evidence(explanation: Explanation, line: int) -> Evidence:
    text = explanation.texts.get(line, "")[:LONGEST_TEXT]
    name, number = explanation.place(line)
    source = name if len(explanation.sources) > 1 else msgspec.UNSET
    return Evidence(number, text, source)


def _reported(ledger: Ledger) -> list[Span]:
    return [span for span in ledger.spans if span.owner is not Owner.COMPUTE]


def _span_entry(span: Span, evidence: list[Evidence]) -> SpanEntry:
    return SpanEntry(
        owner=span.owner.value,
        first_step=span.first_step,
        last_step=span.last_step,
        extra_s=span.extra_s,
        factor=span.factor,
        measured=span.unseen_s == 0,
        evidence=evidence,
    )


def _check_times(run: Run, name: str) -> None:
    stated = sum(event.seconds or 0.0 for event in run.events)
    if run.total_s and stated >= run.total_s:
        facts = {"total_s": run.total_s, "evals_s": stated}
        raise NoTimesError(name, len(run), Reason("short-total", facts))
    has_printed = not all(map(isnan, run.seconds))
    has_wall = sum(not isnan(wall) for wall in islice(run.wall, 1000)) > 1
    if not run.total_s and not has_printed and not has_wall:
        why = Reason("only-evals", {"evals_s": stated}) if stated else Reason("no-times")
        raise NoTimesError(name, len(run), why)


def _texts(run: Run, sources: Sequence[Source], wanted: set[int]) -> dict[int, str]:
    """The evidence lines of all files; numbers count on from file to file."""
    found: dict[int, str] = {}
    borders = [*run.line_offsets, None]
    for source, (before, end) in zip(sources, pairwise(borders), strict=True):
        assert before is not None
        mine = [n for n in wanted if n > before and (end is None or n <= end)]
        texts = source.texts(mine, before)
        found = found | texts if found else texts  # One file may have very many.
    return found
