"""Text from other people's files and file names, fit for any terminal and for JSON.

A file name may hold bytes that are no text, and a line of code may hold what a terminal obeys.
"""

from __future__ import annotations

import msgspec

from instride.doctor.model import Evidence, Fact, Finding, Place, Unknown


def printable(text: str) -> str:
    """A text with question marks for what cannot be seen; tabs and line feeds stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in "\t\n" else "?" for char in text)


def printable_finding(finding: Finding) -> Finding:
    return msgspec.structs.replace(
        finding,
        facts=_facts(finding.facts),
        evidence=tuple(_evidence(each) for each in finding.evidence),
        fixes=tuple(
            msgspec.structs.replace(fix, text=printable(fix.text)) for fix in finding.fixes
        ),
    )


def printable_unknown(unknown: Unknown) -> Unknown:
    return msgspec.structs.replace(unknown, facts=_facts(unknown.facts))


def _facts(facts: dict[str, Fact]) -> dict[str, Fact]:
    return {
        name: printable(" ".join(fact.split())) if isinstance(fact, str) else fact
        for name, fact in facts.items()
    }


def _evidence(evidence: Evidence) -> Evidence:
    if isinstance(evidence, Place):
        path, text = printable(evidence.path), printable(evidence.text)
        return msgspec.structs.replace(evidence, path=path, text=text)
    counter, value = printable(evidence.counter), printable(evidence.value)
    return msgspec.structs.replace(evidence, counter=counter, value=value)
