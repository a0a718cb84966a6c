"""What a language must be able to say. Sentences are built from facts, never patched together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from instride.explain.advice import Advice
from instride.explain.causes import CAUSES
from instride.explain.causes.contract import Finding
from instride.explain.causes.curing import Cure
from instride.explain.unknowns import Unknown

Facts = Mapping[str, float | int | str | None]


class Language:
    """One language: numbers, labels, and a method for each kind of finding and unknown."""

    code: ClassVar[str]
    decimal_mark: ClassVar[str] = "."
    thousands_mark: ClassVar[str] = ","
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

    def sentence(self, finding: Finding) -> str:
        """Say a finding; the method is named after its id."""
        say = getattr(self, "say_" + finding.id.replace("-", "_"))
        return str(say(finding.facts, finding.cost_s))

    def remedy(self, finding: Finding) -> str:
        """What to do about it, in a few words."""
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

    def number(self, value: float, digits: int = 0) -> str:
        text = f"{value:,.{digits}f}"
        marks = {",": self.thousands_mark, ".": self.decimal_mark}
        return "".join(marks.get(char, char) for char in text)

    def percent(self, share: float) -> str:
        percent = 100 * share
        digits = 0 if percent >= 9.95 else 1 if percent >= 0.095 or percent == 0 else 2
        return f"{self.number(percent, digits)} %"

    def factor(self, value: float) -> str:
        return self.number(value, 1 if value < 9.95 else 0) + "\N{MULTIPLICATION SIGN}"

    def seconds(self, value: float) -> str:
        """A duration with the unit a person would choose."""
        if value < 0.0995:
            return f"{self.number(1e3 * value, 1)} ms"
        if value < 0.9995:
            return f"{self.number(1e3 * value)} ms"
        if value < 9.995:
            return f"{self.number(value, 2)} s"
        if value < 600:
            return f"{self.number(value, 1)} s"
        return self._long(round(value))

    def _long(self, seconds: int) -> str:
        minutes, rest = divmod(seconds, 60)
        if minutes < 60:
            return f"{minutes} min {rest} s"
        hours, minutes = divmod(minutes, 60)
        if hours < 48:
            return f"{hours} h {minutes} min"
        days, hours = divmod(hours, 24)
        return f"{self.number(days)} d {hours} h"
