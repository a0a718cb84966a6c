"""What a language must be able to say about a diagnosis."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from instride.doctor.languages.template import Saying, Writer
from instride.doctor.model import Fact, Finding, Unknown


class DoctorWords(msgspec.Struct, frozen=True, kw_only=True):
    """One language: what rules say, what could not be told, and the lines of the screen."""

    code: str
    writer: Writer
    sayings: Mapping[str, Saying]
    """By the id of the rule."""
    unknowns: Mapping[str, str]
    """Templates of whole sentences, by the id of the unknown."""
    certainties: Mapping[str, str]
    """How sure a finding is."""
    phrases: Mapping[str, str]
    """Templates of the lines of the screen, by name."""
    between: str = " "
    """What stands between two sentences."""

    def title(self, rule: str) -> str:
        return self.sayings[rule].title

    def sentence(self, finding: Finding) -> str:
        """What is the matter."""
        return self.writer.fill(self.sayings[finding.rule].sentence, finding.facts)

    def fix(self, finding: Finding) -> str:
        """What to do about it, in words."""
        return self.writer.fill(self.sayings[finding.rule].fix, finding.facts)

    def unknown(self, unknown: Unknown) -> str:
        """What could not be told, and why."""
        return self.writer.fill(self.unknowns[unknown.id], unknown.facts)

    def phrase(self, name: str, facts: Mapping[str, Fact] | None = None) -> str:
        """A line of the screen."""
        return self.writer.fill(self.phrases[name], facts or {})
