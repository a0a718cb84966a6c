"""Several places of one rule are one finding, so that an answer stays short."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from instride.doctor.catalogue import RULES, About, by_cost
from instride.doctor.model import Certainty, Finding

MOST_DOUBTFUL = 2
"""What is only perhaps so must not bury the rest."""


def joined(findings: Iterable[Finding]) -> list[Finding]:
    """What one rule found in several places of a repository, as one finding.

    The most certain stand first. What is perhaps so is not told beside what is so.
    """
    groups: dict[tuple[str, Certainty], list[Finding]] = {}
    kept: list[Finding] = []
    for finding in findings:
        if RULES[finding.rule].about is About.MACHINE:
            kept.append(finding)
        else:
            groups.setdefault((finding.rule, finding.certainty), []).append(finding)
    for (rule, certainty), same in groups.items():
        is_told = any((rule, firmer) in groups for firmer in (Certainty.SURE, Certainty.LIKELY))
        if certainty is not Certainty.PERHAPS or not is_told:
            kept.append(_as_one(same))
    return kept


def _as_one(findings: Sequence[Finding]) -> Finding:
    evidence = dict.fromkeys(each for finding in findings for each in finding.evidence)
    costs = [each.cost_s_per_hour for each in findings if each.cost_s_per_hour is not None]
    return msgspec.structs.replace(
        findings[0],
        evidence=tuple(evidence),
        cost_s_per_hour=max(costs, default=None),
    )


def few_doubtful(findings: Sequence[Finding]) -> list[Finding]:
    """The findings without those doubtful ones that rank behind the first few."""
    doubtful = by_cost([each for each in findings if each.certainty is Certainty.PERHAPS])
    return [each for each in findings if each not in doubtful[MOST_DOUBTFUL:]]
