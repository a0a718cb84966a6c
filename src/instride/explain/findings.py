"""Findings: what is worth telling, most expensive first."""

from __future__ import annotations

from collections.abc import Mapping

from instride.explain.causes import CATALOGUE
from instride.explain.causes.contract import Case, Finding, Rung
from instride.explain.ledger import Ledger

__all__ = ["NOTABLE", "WORTH_A_WORD", "Finding", "Rung", "findings"]

WORTH_A_WORD = 0.0005
"""Share of the running time under which a finding is left out."""
NOTABLE = 0.01
"""Share of the running time from which a finding is something to gain."""


def findings(ledger: Ledger, settings: Mapping[str, int] | None = None) -> list[Finding]:
    """Everything worth a word; `settings` are intervals that the log prints at its head."""
    case = Case(ledger, settings)
    found: list[Finding] = []
    for cause in CATALOGUE:
        told = cause.signature(case)
        for finding in told:
            case.settle(finding.spans, finding.id)
        found += told
    least = WORTH_A_WORD * ledger.running_s
    return sorted(
        (finding for finding in found if finding.cost_s > least),
        key=lambda finding: -finding.cost_s,
    )
