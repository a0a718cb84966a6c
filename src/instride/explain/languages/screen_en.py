"""English: the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from instride.explain.languages.numbers import ordinal
from instride.explain.languages.screen import Around, RunFacts, ScreenWords, ended
from instride.explain.report import Confidence


class EnglishScreen(ScreenWords):
    letters: ClassVar = ""
    table_heads: ClassVar[Mapping[str, str]] = {
        "time": "time",
        "share": "share",
        "steps": "steps",
        "typical": "typical",
        "worst": "worst",
    }
    screen_phrases: ClassVar[Mapping[str, str]] = {
        "where": "Where the time went",
        "stdin": "standard input",
        "joint": "eval + save",
        "typical": "typical: median per step (compute) or per pause",
        "twice": "; a step may count twice",
        "picture": "Step time over steps",
        "findings": "Findings",
        "order": ", most expensive first",
        "advice": "What to set",
        "between": "between processes, not in the shares",
        "following": "following; Ctrl-C ends",
        "others": "Others: instride explain LOG guesses.",
        "describe": "If it guesses wrong, say what a step looks like:",
    }
    sampling_labels: ClassVar[Mapping[str, str]] = {
        "every step": "the time of every step",
        "every k-th step": "the time of every k-th step",
        "average over k steps": "averages over k steps",
        "running total": "a running total",
        "totals only": "totals only",
    }
    pause_labels: ClassVar[Mapping[str, str]] = {
        "same": "a pause is in the time of its step",
        "next": "a pause is in the time printed next",
        "none": "a pause is in no time that is printed",
        "smoothed": "a pause is smeared over many",
    }

    def show_files(self, first: str, num_others: int) -> str:
        return f"{first} and {self.number(num_others)} more"

    def show_run(self, facts: RunFacts) -> str:
        steps = f"steps {self.number(facts.first_step)} to {self.number(facts.last_step)}"
        logged = "all logged" if facts.every == 1 else f"every {ordinal(facts.every)} logged"
        again = ""
        if facts.num_restarts:
            plural = "" if facts.num_restarts == 1 else "s"
            again = f", {self.number(facts.num_restarts)} restart{plural}"
        if facts.num_runs > 1:
            again = f", {self.number(facts.num_runs)} runs{again}"
        return f"{steps}, {logged}{again}; {self.seconds(facts.wall_s)} in all"

    def show_ordinary(self, seconds: float, spread_s: float) -> Around:
        spread = f" \N{PLUS-MINUS SIGN} {self.seconds(spread_s)}" if spread_s else ""
        return Around("an ordinary step takes ", self.seconds(seconds), spread)

    def show_rhythm(self, period: int, longer: float) -> str:
        return f"every {ordinal(period)} takes {self.percent(longer)} longer: the loop's own rhythm"

    def show_nothing(self, share: float) -> Around:
        return Around("", "Nothing to gain here", f": no pause costs {_whole(share)} of the time.")

    def show_verdict(
        self, share: float, is_of_wall: bool, confidence: Confidence, rung: str
    ) -> str:
        of_wall = " of the wall time" if is_of_wall else ""
        told = "" if confidence == "low" else f" ({self.rungs[rung]})"
        return f"{self.percent(share)}{of_wall}, {self.labels[confidence]}{told}."

    def show_remedy(self, remedy: str) -> str:
        return f" Try: {remedy}."

    def show_saving(self, seconds: float) -> str:
        return f"saves up to {self.seconds(seconds)}"

    def show_alternative(self, what: str, how: str) -> str:
        return " ".join(ended([f"Also possible: {what}", f"To tell: {how}"]))

    def show_more(self, count: int) -> str:
        return f"and {self.number(count)} more (--json has all)"

    def show_line(self, number: int) -> str:
        return f"line {number}: "

    def show_gaps(self, sentences: Sequence[str]) -> str:
        return "Not known: " + " ".join(ended(sentences))

    def show_next(self, command: str) -> Around:
        return Around("next: ", command, "   all spans, for programs")

    def show_waiting(self, name: str) -> str:
        return f"waiting for {name}"

    def show_nothing_yet(self, reason: str) -> str:
        return f"nothing to show yet: {reason}"


def _whole(share: float) -> str:
    return f"{100 * share:.0f} %"
