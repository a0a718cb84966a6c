"""Sentences of rules as templates: `{path}` is a fact, `{workers:worker|workers}` counts a noun.

The type of a fact decides how it is written; the language decides the marks and the units.
"""

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter
from typing import ClassVar

import msgspec

from instride.doctor.model import Bytes, Count, Fact, Factor, Seconds, Share, Speed
from instride.explain.languages.errors import ErrorWords
from instride.reasons import Reason

SPACE = "\u00a0"


class Saying(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule says on the screen."""

    title: str
    """A few words without a full stop; no facts."""
    sentence: str
    """A template: what is the matter here, with the facts of the finding."""
    fix: str
    """A template: what to do, in one sentence with a full stop; the code stands in the fixes."""


class Wording(Saying, frozen=True, kw_only=True):
    """What a rule says in English, where it has a page in the reference too."""

    why: str
    """Whole sentences, no facts: what it costs, and how that comes."""
    detected: str
    """Whole sentences, no facts: what is looked at, what counts, and what is left alone."""


def names_of(template: str) -> frozenset[str]:
    """The facts that a template wants."""
    return frozenset(name for _, name, _, _ in Formatter().parse(template) if name)


class Writer:
    """Fills templates in as one language writes numbers, sizes and nouns."""

    gap: ClassVar[str] = " "
    """Between a number and what it counts."""

    def __init__(self, words: ErrorWords) -> None:
        self._words = words

    def fill(self, template: str, facts: Mapping[str, Fact]) -> str:
        """The sentence of a template; KeyError if a fact is missing."""
        parts = []
        for text, name, forms, _ in Formatter().parse(template):
            parts.append(text)
            if name:
                parts.append(self._show(facts[name], forms or ""))
        return "".join(parts)

    def _show(self, fact: Fact, forms: str) -> str:
        match fact:
            case str():
                return fact
            case Reason(name, facts):
                return self._words.filled(name, facts)
            case Bytes(value):
                return self._words.bytes(value)
            case Speed(value):
                return self._words.bytes(value) + "/s"
            case Seconds(value):
                return self._words.seconds(value)
            case Share(value):
                return self._words.percent(value)
            case Factor(value):
                return self._words.factor(value)
            case Count(value):
                return self._count(value, forms)

    def _count(self, value: int, forms: str) -> str:
        number = self._words.number(value)
        if not forms:
            return number
        one, _, many = forms.partition("|")
        return f"{number}{self.gap}{one if self.is_one(value) or not many else many}"

    def is_one(self, value: int) -> bool:
        """Whether a noun after this number is in the singular."""
        return value == 1


class GermanWriter(Writer):
    gap = SPACE


class FrenchWriter(Writer):
    """Nought is singular."""

    gap = SPACE

    def is_one(self, value: int) -> bool:
        return value < 2


class JapaneseWriter(Writer):
    """`8個のワーカー`: the noun follows at once, and has one form."""

    gap = ""
