"""The screen of `instride explain`: the run, where the time went, findings, what is not known."""

from __future__ import annotations

import re
import shlex
import sys
import textwrap
from pathlib import Path

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.text import Text

from instride.cli.render.picture import ASCII, UNICODE, Picture, draw
from instride.explain.explaining import Explanation
from instride.explain.findings import NOTABLE, Finding
from instride.explain.languages import LANGUAGES
from instride.explain.languages.contract import Language
from instride.explain.ledger import Account
from instride.explain.spans import Owner

STYLES = {
    Owner.COMPUTE: "green",
    Owner.WARMUP: "cyan",
    Owner.EVAL: "blue",
    Owner.SAVE: "magenta",
    Owner.AFTERMATH: "red",
    Owner.DATA: "yellow",
    Owner.STARTUP: "cyan",
    Owner.RESTART: "bright_black",
    Owner.LOST: "bright_red",
    Owner.UNKNOWN: "white",
}
STEP = re.compile(r"(?i)\b(step|iter|iteration|epoch)\b")
TELLING = {
    Owner.EVAL: re.compile(r"(?i)valid|\beval|testing|perplexity"),
    Owner.SAVE: re.compile(r"(?i)\bsav|_save|checkpoint"),
}
"""What to show of a line that is too long for the screen."""
WIDEST = 100
NEXT = "next:  --json   all spans, for programs"
"""What stands around the command in the last line."""
MOST_FINDINGS = 5
MOST_EVIDENCE = 3
BAR = 16
LONG_GAP = 0.25
"""Share of the wall from which gaps between processes would dwarf the bars."""


def print_explanation(
    explanation: Explanation, console: Console | None = None, is_following: bool = False
) -> None:
    """Print one screen, as wide as the terminal up to 100 columns; 80 where there is none."""
    screen = _Screen(explanation, console or make_console(), LANGUAGES["en"])
    screen.print()
    if is_following:
        screen.console.print("\nfollowing; Ctrl-C ends", style="dim")
    else:
        screen.print_next()


def make_console() -> Console:
    width = None if sys.stdout.isatty() else 80
    return Console(highlight=False, soft_wrap=False, width=width)


class _Screen:
    def __init__(self, explanation: Explanation, console: Console, language: Language) -> None:
        self.explanation, self.console, self.language = explanation, console, language
        self.ledger = explanation.ledger
        self.width = min(console.width, WIDEST)
        self.is_unicode = "utf" in (console.encoding or "").lower()

    def print(self) -> None:
        self._run()
        self._owners()
        self._picture()
        self._findings()
        self._unknown()

    def _line(self, *parts: str | tuple[str, str]) -> None:
        self.console.print(Text.assemble(*parts), soft_wrap=True)

    def _wrapped(self, text: str, indent: str, style: str = "", first: str | None = None) -> None:
        wrapped = textwrap.fill(
            text,
            self.width,
            initial_indent=indent if first is None else first,
            subsequent_indent=indent,
            break_long_words=False,
        )
        self.console.print(Text(wrapped, style=style), soft_wrap=True)

    def _run(self) -> None:
        ledger, say = self.ledger, self.language
        run = ledger.timeline.run
        title = f"  ({run.dialect.title})"
        names = fit(self._names(), self.width - cell_len(title))
        steps = f"steps {say.number(min(run.step))} to {say.number(max(run.step))}"
        every = max(process.stride for process in ledger.timeline.processes)
        logged = "all logged" if every == 1 else f"every {say.number(every)}th logged"
        again = len(ledger.restarts)
        restarts = f", {again} restart{'' if again == 1 else 's'}" if again else ""
        self._line((names, "bold"), title)
        self._line(f"{steps}, {logged}{restarts}; {say.seconds(ledger.wall_s)} of wall time")
        spread = ledger.main.spread_s
        usual = f" \N{PLUS-MINUS SIGN} {say.seconds(spread)}" if spread else ""
        self._line("an ordinary step takes ", (say.seconds(ledger.baseline_s), "bold"), usual)
        if ledger.rhythm is not None:
            more = say.percent(ledger.rhythm.factors[ledger.rhythm.offset] - 1)
            self._line(f"every {ledger.rhythm.period}th takes {more} longer: the loop's own rhythm")

    def _owners(self) -> None:
        say, ledger = self.language, self.ledger
        gap_s = ledger.accounts[Owner.RESTART].seconds
        has_gap = gap_s > LONG_GAP * ledger.wall_s
        whole = ledger.running_s if has_gap else ledger.wall_s
        self.console.print()
        self._line(("Where the time went", "bold"))
        head = f"  {'':11} {'time':>12} {'share':>7} {'steps':>9} {'typical':>9} {'worst':>9}"
        self._line((head, "dim"))
        rows = sorted(ledger.accounts.items(), key=lambda each: -each[1].seconds)
        for owner, account in rows:
            if account.seconds > 0 and not (has_gap and owner is Owner.RESTART):
                self._owner(owner, account, whole)
        if has_gap:
            text = f"  {say.labels['restart']:11} {say.seconds(gap_s):>12}"
            self._line((text, "dim"), ("   between processes, not in the shares", "dim"))

    def _owner(self, owner: Owner, account: Account, whole: float) -> None:
        say = self.language
        share = account.seconds / whole if whole else 0.0
        typical = "" if account.typical_s is None else say.seconds(account.typical_s)
        worst = "" if account.worst_s is None else say.seconds(account.worst_s)
        steps = say.number(account.steps) if account.steps else ""
        text = (
            f"  {say.labels[owner.value]:11} {say.seconds(account.seconds):>12} "
            f"{say.percent(share):>7} {steps:>9} {typical:>9} {worst:>9} "
        )
        room = min(BAR, self.width - len(text) - 1)
        filled = round(share * room) or (1 if share > 0.002 else 0)
        bar = ("\u2588" if self.is_unicode else "#") * filled
        self._line(text, (bar, STYLES[owner]))

    def _picture(self) -> None:
        if len(self.ledger.timeline.run) < 8:
            return
        margin = 11
        glyphs = UNICODE if self.is_unicode else ASCII
        picture = draw(self.ledger, self.width - margin - 1, glyphs)
        self.console.print()
        self._line(("Step time over steps", "bold"))
        for row, scale in zip(picture.rows, picture.scale, strict=True):
            label = "" if scale is None else self.language.seconds(scale)
            cells = [(char, STYLES[owner or Owner.COMPUTE]) for char, owner in row]
            self._line((f"{label:>{margin - 1}} ", "dim"), *cells)
        self._axis(picture, margin)

    def _axis(self, picture: Picture, margin: int) -> None:
        first = self.language.number(picture.first_step)
        last = self.language.number(picture.last_step)
        gap = len(picture.axis) - len(first) - len(last)
        self._line((" " * margin + picture.axis, "dim"))
        self._line((" " * margin + first + " " * max(1, gap) + last, "dim"))

    def _findings(self) -> None:
        found, running_s = self.explanation.findings, self.ledger.running_s
        notable = _in_order([each for each in found if each.cost_s >= NOTABLE * running_s])
        self.console.print()
        if not notable:
            self._line(("Nothing to gain here", "bold green"), ": no pause costs 1 % of the time.")
        else:
            self._line(("Findings", "bold"), ", most expensive first")
        shown = (notable or found[:2])[:MOST_FINDINGS]
        for number, finding in enumerate(shown, 1):
            self._finding(number, finding)
        if len(found) > len(shown):
            self._line((f"  and {len(found) - len(shown)} more (--json has all)", "dim"))

    def _finding(self, number: int, finding: Finding) -> None:
        say = self.language
        self._wrapped(say.sentence(finding), "     ", first=f"  {number}. ")
        share = say.percent(finding.cost_s / self.ledger.running_s)
        if finding.owner is Owner.RESTART:
            share = say.percent(finding.cost_s / self.ledger.wall_s) + " of the wall time"
        sure = say.labels[finding.confidence]
        self._wrapped(f"{share}, {sure}. Try: {say.remedy(finding)}.", "     ")
        for line in finding.lines[:MOST_EVIDENCE]:
            where = f"     {self._place(line)}: "
            text = _excerpt(self.explanation.texts.get(line, ""), finding, self.width - len(where))
            self._line((where + text, "dim"))

    def _place(self, line: int) -> str:
        name, number = self.explanation.place(line)
        short = Path(name).name
        return f"line {number}" if len(self.explanation.sources) == 1 else f"{short}:{number}"

    def _unknown(self) -> None:
        sentences = [self.language.unknown(each) for each in self.explanation.unknowns]
        if sentences:
            self.console.print()
            self._wrapped(" ".join(sentences), "  ", first="Not known: ")

    def _names(self) -> str:
        """What was read: a long path by its end, many files by their number."""
        sources = self.explanation.sources
        if len(sources) == 1:
            name = sources[0].name
            return name if cell_len(name) <= self.width // 2 else Path(name).name
        return f"{Path(sources[0].name).name} and {len(sources) - 1} more"

    def print_next(self) -> None:
        names = [source.name for source in self.explanation.sources]
        command = "instride explain " + " ".join(shlex.quote(name) for name in names)
        if names == ["-"] or cell_len(command) > self.width - len(NEXT):
            command = "instride explain LOG"
        self.console.print()
        self._line("next: ", (f"{command} --json", "bold"), "   all spans, for programs")


def fit(text: str, room: int) -> str:
    """Cut a text to so many columns of the terminal, where some characters take two."""
    if cell_len(text) <= room:
        return text
    return set_cell_size(text, max(0, room - 3)).rstrip() + "..."


def _excerpt(line: str, finding: Finding, room: int) -> str:
    """A line of the log in `room` columns; a long one from where it gets interesting."""
    text = " ".join(line.split())
    if cell_len(text) <= room:
        return text
    found = TELLING.get(finding.owner, STEP).search(text) or STEP.search(text)
    begin = min(found.start(), max(0, len(text) - room + 3)) if found else 0
    return fit(("..." if begin > 3 else "") + text[begin if begin > 3 else 0 :], room)


def _in_order(notable: list[Finding]) -> list[Finding]:
    """Most expensive first, gaps between processes last: they are no time of the training.

    A save whose aftermath is told is not told again: that sentence has it.
    """
    told = {each.facts["save_step"] for each in notable if each.id == "aftermath"}
    kept = [
        each
        for each in notable
        if not (each.id == "save" and each.facts["count"] == 1 and each.facts["first_step"] in told)
    ]
    return sorted(kept, key=lambda each: (each.owner is Owner.RESTART, -each.cost_s))
