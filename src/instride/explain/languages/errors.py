"""What a language must be able to say when something fails: the texts of every error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from instride import errors
from instride.errors import InstrideError
from instride.explain.languages.notes import NoteWords
from instride.reasons import REASONS, REFUSALS, Fact, fill


class ErrorWords(NoteWords):
    """Messages and hints, by the name of the class and of its text; reasons and refusals."""

    failures: ClassVar[Mapping[str, str]]
    """The texts of errors by their class (`NoStepsError.hint`), of `REASONS` and `REFUSALS`."""

    def complaint(self, error: InstrideError) -> tuple[str, str]:
        """The message of an error, and its hint."""
        kind = type(error).__name__
        return (
            self.filled(f"{kind}.{error.message_name}", error.facts),
            self.filled(f"{kind}.{error.hint_name}", error.facts),
        )

    def filled(self, name: str, facts: Mapping[str, Fact]) -> str:
        """A text with its facts, in the words of this language."""
        return fill(self.failures[name], facts, self.failures, self._written)

    def _written(self, fact: str | int | float) -> str:
        """A number of steps or files, seconds, or a name: that of a trainer may be a word."""
        if isinstance(fact, str):
            return self.trainer(fact)
        return self.seconds(fact) if isinstance(fact, float) else self.number(fact)


def english_failures() -> dict[str, str]:
    """All texts, as the errors themselves say them."""
    classes = (each for each in vars(errors).values() if isinstance(each, type))
    texts = {
        f"{each.__name__}.{name}": text
        for each in classes
        if issubclass(each, InstrideError)
        for name, text in each.texts.items()
    }
    return {**REFUSALS, **REASONS, **texts}
