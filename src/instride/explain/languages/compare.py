"""What a language must be able to say of two runs side by side."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from instride.explain.compared import Caveat, Comparison, Group
from instride.explain.findings import NOTABLE
from instride.explain.languages.contract import Language
from instride.explain.languages.facts import Facts
from instride.explain.languages.screen import Around

PER = 1000


class CompareWords(Language, ABC):
    """The answer, heads of columns, and what cannot be compared.

    Costs are per 1000 steps unless they come once. A cost of zero is told as `nothing`.
    """

    compare_phrases: ClassVar[Mapping[str, str]]
    """`before` and `after` call the runs; `where` and `findings` are headings, `as_before` tells
    that no finding has changed; `log`, `steps`, `ordinary`, `time`, `share` and `change` are heads
    of columns; `in_all` and `closing` (after the last step) are rows; `once` and `unclear` are
    cells."""
    compare_changes: ClassVar[Mapping[str, str]]
    """`gone`, `new`, `cheaper` and `dearer`, as said of a finding."""
    compare_groups: ClassVar[Mapping[str, str]]
    """What costs, by the name of a group: owners joined by `+`."""
    compare_pauses: ClassVar[Mapping[str, str]]
    """Owners as said inside a sentence about what cannot be compared."""
    sentence_gap: ClassVar[str] = " "
    """What stands between two sentences."""
    colon: ClassVar[str] = ": "
    """What stands between the name of a run and what is said of it."""

    def compare_answer(self, comparison: Comparison) -> str:
        """What the change brought, in a few sentences, the most important thing first."""
        before, after = comparison.before, comparison.after
        if not comparison.is_different:
            return self.compare_no_difference(after.baseline_s, NOTABLE)
        said = [
            self.compare_as_fast(after.baseline_s)
            if comparison.is_as_fast
            else self.compare_speed(before.baseline_s, after.baseline_s)
        ]
        if comparison.groups:
            said.append(self.compare_costs(comparison.groups))
        is_even = abs(comparison.won_share) < NOTABLE
        said.append(self.compare_even() if is_even else self.compare_won(comparison))
        if comparison.is_once_notable:
            said.append(self.compare_once(before.once_s, after.once_s))
        return self.sentence_gap.join(said)

    def compare_caveat(self, caveat: Caveat) -> str:
        """Say what cannot be compared; the method is named after its id."""
        say = getattr(self, "cannot_" + caveat.id)
        return str(say(caveat.facts))

    def _trainers(self, f: Facts, gap: str) -> str:
        return gap.join(self.trainer(str(f[side])) for side in ("before", "after"))

    def compare_thousand(self) -> str:
        return self.number(PER)

    def compare_rate(self, seconds: float) -> str:
        """A cell of a column that is in seconds."""
        return self.number(seconds, 1 if abs(seconds) < 99.95 else 0)

    @abstractmethod
    def compare_rate_head(self) -> str:
        """Head of a column of seconds per 1000 steps; short."""

    @abstractmethod
    def compare_rate_note(self) -> str:
        """What that head stands for; follows the heading `where`."""

    @abstractmethod
    def compare_total_head(self) -> str:
        """Head of the column with what 1000 steps take."""

    @abstractmethod
    def compare_no_difference(self, step_s: float, share: float) -> str:
        """Steps are as fast as before, and nothing costs that share of the time more or less."""

    @abstractmethod
    def compare_as_fast(self, step_s: float) -> str:
        """An ordinary step takes what it took."""

    @abstractmethod
    def compare_speed(self, before_s: float, after_s: float) -> str:
        """An ordinary step takes more or less than it did."""

    @abstractmethod
    def compare_costs(self, groups: Sequence[Group]) -> str:
        """What costs more or less than before."""

    @abstractmethod
    def compare_won(self, comparison: Comparison) -> str:
        """Time won or lost: as a share, per 1000 steps, over the length of the run before."""

    @abstractmethod
    def compare_even(self) -> str:
        """In all, it takes as long as before."""

    @abstractmethod
    def compare_once(self, before_s: float, after_s: float) -> str:
        """What starting and ending cost, however many steps there are."""

    @abstractmethod
    def compare_finding(self, before_s: float | None, after_s: float | None, is_once: bool) -> str:
        """The cost of a finding before and after; None where there is no such finding."""

    @abstractmethod
    def compare_more(self, count: int) -> str:
        """So many findings are as before, or too small to tell."""

    @abstractmethod
    def compare_cannot(self, sentences: Sequence[str]) -> str:
        """All that cannot be compared, in one paragraph."""

    @abstractmethod
    def compare_next(self, command: str) -> Around:
        """The command that shows what is left."""

    @abstractmethod
    def cannot_dialects(self, f: Facts) -> str:
        """Different trainers, by their titles: `before`, `after`."""

    @abstractmethod
    def cannot_sampling(self, f: Facts) -> str:
        """One step of so many is in the log: `before`, `after`."""

    @abstractmethod
    def cannot_wall(self, f: Facts) -> str:
        """Only one side, `has_wall`, has timestamps."""

    @abstractmethod
    def cannot_data(self, f: Facts) -> str:
        """Only one of the logs (`has_data`) says how long steps wait for data."""

    @abstractmethod
    def cannot_hidden(self, f: Facts) -> str:
        """A side does not show the time of an `owner`."""

    @abstractmethod
    def cannot_short(self, f: Facts) -> str:
        """A side has too few `steps` for an `owner` that comes `every` so many (None: once)."""

    @abstractmethod
    def cannot_joint(self, f: Facts) -> str:
        """One side does not part evaluations from saves."""

    @abstractmethod
    def cannot_single(self, f: Facts) -> str:
        """A side has an `owner` once only."""

    @abstractmethod
    def cannot_accidents(self, f: Facts) -> str:
        """Gaps between processes and lost work are not counted."""

    @abstractmethod
    def cannot_work(self, f: Facts) -> str:
        """A step may do another amount of work."""
