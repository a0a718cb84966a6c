"""What a language must be able to say. Sentences are built from facts, never patched together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from instride.explain.advice import Advice
from instride.explain.causes import CAUSES
from instride.explain.causes.contract import Finding
from instride.explain.causes.curing import Cure
from instride.explain.languages.numbers import Numbers
from instride.explain.unknowns import Unknown


class Language(Numbers):
    """One language: numbers, labels, and a method for each kind of finding and unknown."""

    code: ClassVar[str]
    labels: ClassVar[Mapping[str, str]]
    remedies: ClassVar[Mapping[str, str]]
    """What to do in a few words, by the id of the finding, where the first cure is not that."""
    titles: ClassVar[Mapping[str, str]]
    """The names of the causes."""
    cures: ClassVar[Mapping[str, str]]
    """What to do, by the id of the remedy; no full stop."""
    alternatives: ClassVar[Mapping[str, tuple[tuple[str, str], ...]]]
    """What else a cause may be, and the next measurement that tells; no full stops."""
    rungs: ClassVar[Mapping[str, str]]
    """How a finding was told: the steps of the ladder of confidence."""
    trainers: ClassVar[Mapping[str, str]]
    """Titles of dialects that are no proper names, by what the dialect itself says."""

    def trainer(self, title: str) -> str:
        """The title of a dialect."""
        return self.trainers.get(title, title)

    def sentence(self, finding: Finding) -> str:
        """Say a finding; the method is named after its id."""
        say = getattr(self, "say_" + finding.id.replace("-", "_"))
        return str(say(finding.facts, finding.cost_s))

    def remedy(self, finding: Finding) -> str:
        """What to do about it, in a few words."""
        if finding.instead:
            return self.cures[finding.instead[0]]
        return self.remedies.get(finding.id) or self.cures[CAUSES[finding.id].remedies[0]]

    def cure(self, cure: Cure) -> str:
        """One thing to do about a finding."""
        return self.cures[cure.id]

    def advice(self, advice: Advice) -> str:
        """Say what to set, and why."""
        say = getattr(self, "advice_" + advice.id.replace("-", "_"))
        return str(say(advice.facts))

    def unknown(self, unknown: Unknown) -> str:
        """Say what the log could not tell."""
        say = getattr(self, "unknown_" + unknown.id.replace("-", "_"))
        return str(say(unknown.facts))
