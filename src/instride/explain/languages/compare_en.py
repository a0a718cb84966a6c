"""English: two runs side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from instride.explain.compared import Comparison, Group
from instride.explain.languages.compare import CompareWords
from instride.explain.languages.facts import Facts, number_of
from instride.explain.languages.screen import Around

RUNS = {"before": "the run before", "after": "the run after"}


class EnglishCompare(CompareWords):
    compare_phrases: ClassVar[Mapping[str, str]] = {
        "before": "before",
        "after": "after",
        "where": "Where the time goes",
        "findings": "Findings",
        "as_before": "Findings are as before.",
        "log": "log",
        "steps": "steps",
        "ordinary": "ordinary step",
        "time": "time",
        "share": "share",
        "change": "change",
        "in_all": "in all",
        "closing": "at the end",
        "once": "once",
        "unclear": "?",
    }
    compare_changes: ClassVar[Mapping[str, str]] = {
        "gone": "gone",
        "new": "new",
        "cheaper": "cheaper",
        "dearer": "dearer",
    }
    compare_groups: ClassVar[Mapping[str, str]] = {
        "compute": "steps in all cost",
        "eval": "evaluation costs",
        "save": "saving costs",
        "aftermath": "the aftermath of saves costs",
        "save+aftermath": "saving and its aftermath cost",
        "eval+save": "evaluation and saving cost",
        "eval+save+aftermath": "evaluation, saving and its aftermath cost",
        "data": "waiting for data costs",
        "unknown": "slow steps without a stated reason cost",
    }
    compare_pauses: ClassVar[Mapping[str, str]] = {
        "eval": "evaluation",
        "save": "saving",
        "aftermath": "the aftermath of saves",
        "data": "waiting for data",
        "unknown": "slow steps without a stated reason",
    }

    def compare_rate_head(self) -> str:
        return f"s/{self.compare_thousand()}"

    def compare_rate_note(self) -> str:
        return f" ({self.compare_rate_head()}: seconds per {self.compare_thousand()} steps)"

    def compare_total_head(self) -> str:
        return f"{self.compare_thousand()} steps take"

    def compare_no_difference(self, step_s: float, share: float) -> str:
        return (
            f"No difference: an ordinary step takes {self.seconds(step_s)} as before, and nothing "
            f"costs {self.number(100 * share)} % of the time more or less."
        )

    def compare_as_fast(self, step_s: float) -> str:
        return f"Steps are as fast as before ({self.seconds(step_s)})."

    def compare_speed(self, before_s: float, after_s: float) -> str:
        share = self.percent(abs(after_s - before_s) / before_s)
        less = "less" if after_s < before_s else "more"
        return (
            f"An ordinary step takes {self.seconds(after_s)} instead of {self.seconds(before_s)} "
            f"({share} {less})."
        )

    def compare_costs(self, groups: Sequence[Group]) -> str:
        said = [
            f"{self.compare_groups[group.name]} {self._compare_amount(group.after_s)} instead of "
            f"{self._compare_amount(group.before_s)}"
            for group in groups
        ]
        return f"Per {self.compare_thousand()} steps, {_joined(said)}."

    def compare_won(self, comparison: Comparison) -> str:
        share = self.percent(abs(comparison.won_share))
        result = f"it takes {share} more time"
        if comparison.won_share > 0:
            result = f"{share} of the time is won"
        return (
            f"In all, {result}: {self.seconds(abs(comparison.won_per_1000_s))} per "
            f"{self.compare_thousand()} steps, {self.seconds(abs(comparison.won_over_before_s))} "
            f"over the {self.number(comparison.before.num_steps)} steps of the run before."
        )

    def compare_even(self) -> str:
        return f"In all, {self.compare_thousand()} steps take as long as before."

    def compare_once(self, before_s: float, after_s: float) -> str:
        return (
            f"Starting and ending cost {self._compare_amount(after_s)} instead of "
            f"{self._compare_amount(before_s)}, once."
        )

    def compare_finding(self, before_s: float | None, after_s: float | None, is_once: bool) -> str:
        unit = "once" if is_once else f"per {self.compare_thousand()} steps"
        if before_s is not None and after_s is not None:
            return f"{self.seconds(after_s)} instead of {self.seconds(before_s)}, {unit}"
        return f"{self.seconds(before_s or after_s or 0.0)} {unit}"

    def compare_more(self, count: int) -> str:
        return f"and {self.number(count)} as before or too small to tell (--json has all)"

    def compare_cannot(self, sentences: Sequence[str]) -> str:
        return "Mind: " + " ".join(sentences)

    def compare_next(self, command: str) -> Around:
        return Around("next: ", command, "   what is left to gain")

    def cannot_dialects(self, f: Facts) -> str:
        return (
            f"The logs are of different trainers ({self._trainers(f, ', ')}), which may count "
            "and time steps differently."
        )

    def cannot_sampling(self, f: Facts) -> str:
        before, after = (self._compare_logged(f, side) for side in ("before", "after"))
        return f"Before, {before} is logged; after, {after}: single slow steps cannot be compared."

    def cannot_wall(self, f: Facts) -> str:
        return (
            f"Only {RUNS[str(f['has_wall'])]} has timestamps: time outside of steps cannot be "
            "compared."
        )

    def cannot_data(self, f: Facts) -> str:
        return (
            f"Only {RUNS[str(f['has_data'])]} says how long steps wait for data: in the other, "
            "that is part of computing."
        )

    def cannot_hidden(self, f: Facts) -> str:
        return (
            f"What {self._compare_owner(f)} costs is in no number of {self._compare_run(f)}: "
            "it cannot be compared and is not counted."
        )

    def cannot_short(self, f: Facts) -> str:
        steps = f"{self.number(number_of(f, 'steps'))} steps"
        seen = "seen once in the other"
        if f["every"]:
            seen = f"every {self.number(number_of(f, 'every'))} steps in the other"
        return (
            f"{self._compare_run(f).capitalize()} has only {steps}, too few for "
            f"{self._compare_owner(f)} ({seen}), which is not counted."
        )

    def cannot_joint(self, f: Facts) -> str:
        return (
            f"In {self._compare_run(f)}, evaluation and save share a pause: they can only be "
            "compared together."
        )

    def cannot_single(self, f: Facts) -> str:
        return (
            f"{self._compare_run(f).capitalize()} shows {self._compare_owner(f)} only once: its "
            f"cost per {self.compare_thousand()} steps is rough."
        )

    def cannot_accidents(self, f: Facts) -> str:
        return "Gaps between processes and lost work are not counted: they come from crashes."

    def cannot_work(self, f: Facts) -> str:
        return "Whether a step does the same work (batch size, length) the logs do not say."

    def _compare_amount(self, seconds: float) -> str:
        return self.seconds(seconds) if seconds > 0 else "nothing"

    def _compare_logged(self, f: Facts, side: str) -> str:
        every = int(number_of(f, side))
        return "every step" if every == 1 else f"one step in {self.number(every)}"

    def _compare_owner(self, f: Facts) -> str:
        return self.compare_pauses[str(f["owner"])]

    def _compare_run(self, f: Facts) -> str:
        return RUNS[str(f["side"])]


def _joined(said: list[str]) -> str:
    return said[0] if len(said) == 1 else f"{', '.join(said[:-1])}, and {said[-1]}"
