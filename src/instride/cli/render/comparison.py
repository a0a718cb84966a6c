"""The screen of `instride compare`: the answer, the runs, the owners side by side, findings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console

from instride.cli.render.next_command import about_logs
from instride.cli.render.sheet import Sheet
from instride.cli.render.text import make_console
from instride.cli.render.wrapping import fit_end, pad_left, pad_right, wrap
from instride.explain.compared import Comparison, Cost, FindingChange, OwnerChange, Side
from instride.explain.languages import DEFAULT, LANGUAGES
from instride.explain.languages.words import Words
from instride.explain.pace import ACCIDENTS, PER_STEP

COMMAND = "instride explain LOG"
INDENT = "  "
MOST_FINDINGS = 6
SHORTEST_NAME = 8
STYLES = {"gone": "green", "cheaper": "green", "new": "red", "dearer": "red"}
"""Colour is never alone: the word or the sign says the same."""

Cell = tuple[str, str]
"""A text and its style."""
Row = list[Cell]


def print_comparison(
    comparison: Comparison, language: Words, console: Console | None = None
) -> None:
    """Print one screen, as wide as the terminal up to 100 columns; 80 where there is none."""
    sheet = Sheet(console or make_console(), language)
    say = language if sheet.language is language else LANGUAGES[DEFAULT]
    _Screen(comparison, sheet, say).print()


class _Screen:
    def __init__(self, comparison: Comparison, sheet: Sheet, say: Words) -> None:
        self.comparison, self.sheet, self.say = comparison, sheet, say
        self.phrases = say.compare_phrases

    def print(self) -> None:
        for line in wrap(self.say.compare_answer(self.comparison), self.sheet.width):
            self.sheet.line((line, "bold"))
        self.sheet.blank()
        self._runs()
        self.sheet.blank()
        self._owners()
        self.sheet.blank()
        self._findings()
        self._caveats()
        self.sheet.blank()
        self._next()

    def _runs(self) -> None:
        say, sides = self.say, (self.comparison.before, self.comparison.after)
        heads = [self.phrases[key] for key in ("log", "steps", "ordinary")]
        table = [_row("", *heads, say.compare_total_head(), style="dim")]
        for key, side in zip(("before", "after"), sides, strict=True):
            cells = [say.number(side.num_steps), say.seconds(side.baseline_s)]
            table.append(_row(self.phrases[key], "", *cells, say.seconds(side.per_1000_s)))
        others = sum(width for at, width in enumerate(_widths(table)) if at != 1)
        room = self.sheet.width - len(INDENT) - others - 2 * (len(heads) + 1)
        for row, side in zip(table[1:], sides, strict=True):
            row[1] = (self._log(side, room), "bold")
        self._table(table, num_left=2)

    def _log(self, side: Side, room: int) -> str:
        """What was read, and the trainer where there is room: many files by their number."""
        others, name = len(side.names) - 1, self.say.show_name(side.names[0])
        if others:
            name = self.say.show_files(Path(name).name, others)
        both = f"{name} ({self.say.trainer(side.title)})"
        return both if cell_len(both) <= room else fit_end(name, max(SHORTEST_NAME, room))

    def _owners(self) -> None:
        phrases, changes = self.phrases, self.comparison.owners
        self.sheet.line((phrases["where"], "bold"), self.say.compare_rate_note())
        counted = [each for each in changes if each.owner in PER_STEP]
        counted.sort(key=lambda each: -max(each.before.seconds, each.after.seconds))
        columns = [phrases["time"], phrases["share"], self.say.compare_rate_head()]
        table = [
            _row("", *columns, *columns, phrases["change"], style="dim"),
            *(self._counted(each) for each in counted),
            self._total(),
            *(self._apart(each) for each in changes if each.owner not in PER_STEP),
            *self._closing(),
        ]
        gap = 2
        if _table_width(table, gap) > self.sheet.width:
            gap = 1
        if _table_width(table, gap) > self.sheet.width:
            # A narrow screen can miss durations: shares and rates are what compares.
            table = [[row[0], *row[2:4], *row[5:]] for row in table]
        self._sides(_widths(table), gap)
        self._table(table, gap=gap)

    def _sides(self, widths: list[int], gap: int) -> None:
        """Which columns are of which run, above the last one of each."""
        num_each = (len(widths) - 2) // 2
        line = INDENT + " " * widths[0]
        for key, begin in (("before", 1), ("after", 1 + num_each)):
            room = sum(widths[begin : begin + num_each]) + gap * num_each
            line += pad_left(self.phrases[key], room)
        self.sheet.line((line, "dim"))

    def _counted(self, change: OwnerChange) -> Row:
        """A row of an owner whose seconds come with the steps."""
        won_s = change.won_per_1000_s
        cells = [*self._cost(change.before), *self._cost(change.after)]
        last = (self.phrases["unclear"], "yellow") if won_s is None else self._change(won_s)
        return [*_row(self.say.labels[change.owner.value], *cells), last]

    def _cost(self, cost: Cost) -> list[str]:
        say = self.say
        rate = say.compare_rate(cost.per_1000_s or 0.0)
        if not cost.seconds:
            return ["", "", rate]
        return [say.seconds(cost.seconds), say.percent(cost.share), rate]

    def _total(self) -> Row:
        sides = (self.comparison.before, self.comparison.after)
        rates = [self.say.compare_rate(side.per_1000_s) for side in sides]
        row = _row(self.phrases["in_all"], "", "", rates[0], "", "", rates[1], style="bold")
        return [*row, self._change(self.comparison.won_per_1000_s)]

    def _change(self, won_s: float) -> Cell:
        """More time is a plus."""
        text = self.say.compare_rate(abs(won_s))
        if text == self.say.compare_rate(0.0):
            return text, ""
        return (f"-{text}", "green") if won_s > 0 else (f"+{text}", "red")

    def _apart(self, change: OwnerChange) -> Row:
        """A row of an owner whose seconds do not come with the steps."""
        is_accident = change.owner in ACCIDENTS
        cells = [
            cell
            for cost in (change.before, change.after)
            for cell in self._once(cost.seconds, None if is_accident else cost.share)
        ]
        return _row(self.say.labels[change.owner.value], *cells, "", style="dim")

    def _once(self, seconds: float, share: float | None) -> list[str]:
        if not seconds:
            return ["", "", ""]
        if share is None:
            return [self.say.seconds(seconds), "", ""]
        return [self.say.seconds(seconds), self.say.percent(share), self.phrases["once"]]

    def _closing(self) -> list[Row]:
        sides = (self.comparison.before, self.comparison.after)
        if not any(side.closing_s for side in sides):
            return []
        cells = [
            cell
            for side in sides
            for cell in self._once(side.closing_s, side.closing_s / side.running_s)
        ]
        return [_row(self.phrases["closing"], *cells, "", style="dim")]

    def _table(self, table: Sequence[Row], num_left: int = 1, gap: int = 2) -> None:
        widths = _widths(table)
        for row in table:
            cells: list[str | Cell] = [INDENT]
            num_filled = max(at for at, (text, _) in enumerate(row) if text) + 1
            for column, (text, style) in enumerate(row[:num_filled]):
                pad = pad_right if column < num_left else pad_left
                between = " " * gap if column else ""
                cells.append((between + pad(text, widths[column]), style))
            self.sheet.line(*cells)

    def _findings(self) -> None:
        changes = self.comparison.findings
        shown = [each for each in changes if each.is_notable][:MOST_FINDINGS]
        if not shown:
            self.sheet.line((self.phrases["as_before"], "bold"))
            return
        self.sheet.line((self.phrases["findings"], "bold"))
        width = max(cell_len(self.say.compare_changes[each.change]) for each in shown)
        for change in shown:
            self._finding(change, width)
        if len(changes) > len(shown):
            self.sheet.line((INDENT + self.say.compare_more(len(changes) - len(shown)), "dim"))

    def _finding(self, change: FindingChange, width: int) -> None:
        say = self.say
        rest = " " * (len(INDENT) + width + 2)
        first = INDENT + pad_right(say.compare_changes[change.change], width + 2)
        for key, findings in (("before", change.before), ("after", change.after)):
            if findings:
                # Said only where there are both.
                which = self.phrases[key] + say.colon if change.before and change.after else ""
                # Of several alike, the dearest speaks for the others.
                told = {each.id: each for each in reversed(findings)}
                said = " ".join(say.sentence(each) for each in reversed(told.values()))
                self._hanging(which + said, first, rest, STYLES[change.change])
                first = rest
        cost = say.compare_finding(change.before_s, change.after_s, change.is_once)
        for line in wrap(cost, self.sheet.width, rest, rest):
            self.sheet.line((line, "dim"))

    def _hanging(self, text: str, first: str, rest: str, style: str) -> None:
        """A paragraph whose first line begins with something that has a style."""
        head, *others = wrap(text, self.sheet.width, first, rest)
        self.sheet.line((first, style), head.removeprefix(first))
        for line in others:
            self.sheet.line(line)

    def _caveats(self) -> None:
        sentences = [self.say.compare_caveat(each) for each in self.comparison.caveats]
        if sentences:
            self.sheet.blank()
            self.sheet.paragraph(self.say.compare_cannot(sentences), INDENT, first="")

    def _next(self) -> None:
        names = self.comparison.after.names
        line = about_logs(COMMAND, names, self.say.compare_next, self.sheet.width)
        self.sheet.around(line, "bold")


def _row(*texts: str, style: str = "") -> Row:
    return [(text, style) for text in texts]


def _widths(table: Sequence[Row]) -> list[int]:
    return [max(cell_len(text) for text, _ in column) for column in zip(*table, strict=True)]


def _table_width(table: Sequence[Row], gap: int) -> int:
    widths = _widths(table)
    return len(INDENT) + sum(widths) + gap * (len(widths) - 1)
