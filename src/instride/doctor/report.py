"""The answer of `doctor`, in the shape of the JSON contract (schema 1).

`docs/reference/doctor.schema.json` is generated from these structures and checked by a test.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from instride.doctor.catalogue import RULES
from instride.doctor.examining import Diagnosis
from instride.doctor.languages.contract import DoctorWords
from instride.doctor.model import Bytes, Count, Fact, Factor, Finding, Place, Seconds, Share, Speed
from instride.doctor.printable import printable
from instride.reasons import REASONS, Reason, fill

SCHEMA = 1


class EvidenceEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """A line of a file, or a counter of the machine."""

    path: str | None = None
    """Relative to the repository."""
    line: int | None = None
    """Counted from 1."""
    text: str | None = None
    """The line itself."""
    counter: str | None = None
    """A file or a value of the system, as one would look at it."""
    value: str | None = None
    """What the counter said."""


class FixEntry(msgspec.Struct, frozen=True):
    kind: Literal["diff", "line", "command"]
    """A unified diff for `git apply`, a line to put there instead, or a command."""
    text: str


class FindingEntry(msgspec.Struct, frozen=True):
    rule: str
    about: Literal["machine", "repository"]
    certainty: Literal["sure", "likely", "perhaps"]
    cost_s_per_hour: float | None
    """Seconds that it takes from an hour of training; null where that was not measured."""
    title: str
    sentence: str
    facts: dict[str, str | int | float]
    """What the sentence is made of: bytes, seconds, bytes a second, shares from 0 to 1."""
    evidence: list[EvidenceEntry]
    """The worst place first."""
    fix: str
    """What to do, in words."""
    fixes: list[FixEntry]
    """What to do, ready to be used, for the first place."""


class UnknownEntry(msgspec.Struct, frozen=True):
    id: str
    sentence: str


class Report(msgspec.Struct, frozen=True):
    """What `instride doctor --json` prints."""

    schema: int
    repository: str | None
    """As it was named; null if only the machine was looked at."""
    checkpoints: list[str]
    """Directories that were named, or else found in the repository."""
    findings: list[FindingEntry]
    """Worst first."""
    unknown: list[UnknownEntry]
    """What could not be told."""
    checked: list[str]
    """The rules that were gone through."""
    ignored: list[str]
    """The rules that the settings of the repository silence."""
    num_files: int
    """Files of the repository that were read."""


def report(diagnosis: Diagnosis, words: DoctorWords) -> Report:
    """The diagnosis in the shape of the JSON contract."""
    request = diagnosis.request
    return Report(
        schema=SCHEMA,
        repository=None if request.repo is None else printable(str(request.repo)),
        checkpoints=[printable(str(path)) for path in request.checkpoints],
        findings=[_finding(each, words) for each in diagnosis.findings],
        unknown=[UnknownEntry(each.id, words.unknown(each)) for each in diagnosis.unknown],
        checked=list(diagnosis.checked),
        ignored=list(diagnosis.ignored),
        num_files=diagnosis.num_files,
    )


def _finding(finding: Finding, words: DoctorWords) -> FindingEntry:
    return FindingEntry(
        rule=finding.rule,
        about=RULES[finding.rule].about.value,
        certainty=finding.certainty.value,
        cost_s_per_hour=finding.cost_s_per_hour,
        title=words.title(finding.rule),
        sentence=words.sentence(finding),
        facts={name: _plain(fact) for name, fact in finding.facts.items()},
        evidence=[
            EvidenceEntry(path=each.path, line=each.line, text=each.text)
            if isinstance(each, Place)
            else EvidenceEntry(counter=each.counter, value=each.value)
            for each in finding.evidence
        ],
        fix=words.fix(finding),
        fixes=[FixEntry(each.kind.value, each.text) for each in finding.fixes],
    )


def _plain(fact: Fact) -> str | int | float:
    match fact:
        case str():
            return fact
        case Reason(name, facts):
            return fill(REASONS[name], facts)
        case Speed(bytes_per_s=value):
            return value
        case Bytes(value) | Count(value):
            return value
        case Seconds(value) | Share(value) | Factor(value):
            return value
