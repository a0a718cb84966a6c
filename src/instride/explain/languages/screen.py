"""What a language must be able to say on the terminal, besides findings and unknowns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

import msgspec

from instride.explain.languages.contract import Language
from instride.explain.report import Confidence

SENTENCE_ENDS = (".", "!", "?", "\u3002")


class RunFacts(msgspec.Struct, frozen=True):
    """What the first lines say of a run."""

    first_step: int
    last_step: int
    every: int
    """One step of so many is in the log."""
    num_restarts: int
    num_runs: int
    """Trainings one after another that are not restarts of each other."""
    wall_s: float


class Around(msgspec.Struct, frozen=True):
    """A line with a part that stands out: what is before it, the part, what is after it."""

    before: str
    part: str
    after: str


class ScreenWords(Language, ABC):
    """Headings, heads of columns and the lines of the screen.

    A mapping has what never changes; a method builds a line from numbers.
    """

    letters: ClassVar[str]
    """What a terminal must be able to show besides ASCII to be of use in this language."""
    table_heads: ClassVar[Mapping[str, str]]
    """Of the owners' table: `time`, `share`, `steps`, `typical`, `worst`."""
    screen_phrases: ClassVar[Mapping[str, str]]
    """`where`, `picture` and `findings` are headings. `order` follows `findings`; `advice` is
    the heading of what to set; `stdin` is the name of a pipe; `joint` is
    the owner of pauses that evaluate and save, in few letters; `typical` explains a column of the
    table, and `twice` follows it where a step has several owners; `between` tells
    the time between processes, which is in no share; `following` is said by `--follow`; `others`
    and `describe` end the list of dialects."""
    sampling_labels: ClassVar[Mapping[str, str]]
    """What a printed duration stands for, by the value of a `Sampling`."""
    pause_labels: ClassVar[Mapping[str, str]]
    """Where an evaluation or a save lands, by the value of a `Pauses`."""

    def show_name(self, name: str) -> str:
        """Name a file, or the pipe that was read."""
        return self.screen_phrases["stdin"] if name == "-" else name

    @abstractmethod
    def show_files(self, first: str, num_others: int) -> str:
        """Name the log by its first file and the number of the others."""

    @abstractmethod
    def show_run(self, facts: RunFacts) -> str:
        """Which steps, how many of them are in the log, restarts, and the wall time."""

    @abstractmethod
    def show_ordinary(self, seconds: float, spread_s: float) -> Around:
        """What an ordinary step takes; without the spread if that is zero."""

    @abstractmethod
    def show_rhythm(self, period: int, longer: float) -> str:
        """Every so many steps one is longer by a share, which is no fault."""

    @abstractmethod
    def show_nothing(self, share: float) -> Around:
        """Nothing costs that share of the time."""

    @abstractmethod
    def show_verdict(
        self, share: float, is_of_wall: bool, confidence: Confidence, rung: str
    ) -> str:
        """What a finding costs, how sure that is, and by what; a guess says so itself."""

    @abstractmethod
    def show_remedy(self, remedy: str) -> str:
        """What to try, after the verdict."""

    @abstractmethod
    def show_saving(self, seconds: float) -> str:
        """What a change would save, at most; said beside it."""

    @abstractmethod
    def show_alternative(self, what: str, how: str) -> str:
        """What else it may be, and how to tell."""

    @abstractmethod
    def show_more(self, count: int) -> str:
        """So many findings are not shown."""

    @abstractmethod
    def show_line(self, number: int) -> str:
        """Where a piece of evidence stands, said before it."""

    @abstractmethod
    def show_gaps(self, sentences: Sequence[str]) -> str:
        """All that the log could not tell, in one paragraph."""

    @abstractmethod
    def show_next(self, command: str) -> Around:
        """What else can be asked for."""

    def show_times(self, sampling: str, pauses: str) -> str:
        """How the times of a dialect are to be read."""
        return f"{self.sampling_labels[sampling]}; {self.pause_labels[pauses]}"

    @abstractmethod
    def show_waiting(self, name: str) -> str:
        """A log to follow is not there yet."""

    @abstractmethod
    def show_nothing_yet(self, reason: str) -> str:
        """A log to follow has nothing to show yet."""


def ended(sentences: Sequence[str], mark: str = ".") -> list[str]:
    """Sentences that end like one: what is told in a few words does not."""
    return [each if each.endswith(SENTENCE_ENDS) else each + mark for each in sentences]
