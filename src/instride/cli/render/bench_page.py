"""What a benchmark found, on the screen and as a page of Markdown: the same for all of them."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

import msgspec
from rich.console import Console

from instride.bench.bars import Bar, Unit
from instride.bench.report import Machine
from instride.cli.render.sheet import Sheet
from instride.cli.render.text import make_console
from instride.cli.render.wrapping import wrap
from instride.explain.languages import DEFAULT, LANGUAGES

Cells = tuple[str, ...]
GAPS = (2, 1)
"""Spaces between columns: as many as there is room for."""


class Figure(msgspec.Struct, frozen=True):
    """A picture that lies beside a page, under its name."""

    what: str
    svg: str


class Page(msgspec.Struct, frozen=True):
    """All that there is to say, in its order."""

    title: str
    about: str
    """What was measured, and on which machine."""
    heads: Cells
    rows: list[Cells]
    notes: list[str]
    """What one has to know to read the table."""
    bars: list[Bar]
    num_names: int = 1
    """How many columns are names; the others are numbers."""
    figure: Figure | None = None


def print_page(page: Page, console: Console | None = None) -> None:
    sheet = Sheet(console or make_console(), LANGUAGES[DEFAULT])
    sheet.paragraph(page.about, "")
    sheet.blank()
    for table in _tables(page, sheet.width):
        for number, line in enumerate(table):
            sheet.line((line, "bold") if number == 0 else line)
        sheet.blank()
    for note in page.notes:
        sheet.paragraph(note, "  ", "")
    if page.bars:
        sheet.blank()
        width = max(len(bar.what) for bar in page.bars)
        for bar in page.bars:
            lines = wrap(verdict(bar), sheet.width - width - 3)
            for what, line in zip_longest((bar.what,), lines, fillvalue=""):
                sheet.line(f"  {what:<{width}} {line}")


def _tables(page: Page, most_columns: int) -> list[list[str]]:
    """The table, or the parts of one that is too wide, each with the names in front."""
    lines = [page.heads, *page.rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    gaps = (gap for gap in GAPS if sum(widths) + gap * (len(widths) - 1) <= most_columns)
    if gap := next(gaps, 0):
        return [_lines(lines, range(len(widths)), widths, gap, page.num_names)]
    names = list(range(page.num_names))
    parts = [list(names)]
    for column in range(page.num_names, len(widths)):
        wanted = [*parts[-1], column]
        is_full = sum(widths[each] + GAPS[0] for each in wanted) - GAPS[0] > most_columns
        if is_full and len(parts[-1]) > len(names):
            parts.append([*names, column])
        else:
            parts[-1] = wanted
    return [_lines(lines, part, widths, GAPS[0], page.num_names) for part in parts]


def _lines(
    lines: Sequence[Cells], columns: Sequence[int], widths: list[int], gap: int, num_names: int
) -> list[str]:
    return [
        (" " * gap).join(
            line[each].ljust(widths[each]) if each < num_names else line[each].rjust(widths[each])
            for each in columns
        )
        for line in lines
    ]


def write_page(page: Page, path: Path, command: str, day: datetime.date) -> None:
    """Write a page for the repository: what was measured, where, when, and by which command."""
    sides = ["---"] * page.num_names + ["--:"] * (len(page.heads) - page.num_names)
    lines = [
        f"# {page.title}",
        "",
        f"{page.about} {day:%Y-%m-%d}.",
        "",
        f"    {command}",
        "",
        _row(page.heads),
        _row(sides),
        *(_row(row) for row in page.rows),
        "",
        *(f"- {note}" for note in page.notes),
    ]
    if page.figure is not None:
        picture = path.with_suffix(".svg")
        picture.write_text(page.figure.svg, encoding="utf-8")
        lines += ["", f"![{page.figure.what}]({picture.name})"]
    if page.bars:
        lines += ["", "| promise | measured |", "|---|---|"]
        lines += [_row([bar.what, verdict(bar)]) for bar in page.bars]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def verdict(bar: Bar) -> str:
    limit = f"at most {_show(bar.limit, bar.unit)}"
    if bar.measured is None:
        return f"could not be measured, {limit}"
    noise = "" if bar.noise is None else f" +- {_show(bar.noise, bar.unit)}"
    each = f" (of {', '.join(_show(one, bar.unit) for one in bar.each)})" if bar.each else ""
    kept = "kept" if bar.is_kept else "missed"
    if bar.is_split:
        first, last = (_show(one, bar.unit) for one in (min(bar.each), max(bar.each)))
        kept += f" in the median, between {first} and {last}"
    return f"{_show(bar.measured, bar.unit)}{noise}{each}, {limit}: {kept}"


def _show(value: float, unit: Unit) -> str:
    if unit is Unit.SECONDS:
        return show_s(value)
    if unit is Unit.BYTES:
        return show_bytes(value)
    if unit is Unit.PERCENT:
        return f"{100 * value:.2f} %"
    return f"{value:.3f}" if unit is Unit.SHARE else f"{value:.3f}x"


def describe_machine(here: Machine) -> str:
    gpu = "" if here.gpu is None else f"{here.gpu}, "
    return (
        f"{gpu}{here.cores} cores, {here.cpu}, {show_bytes(here.memory_bytes)} of memory, "
        f"{here.filesystem}; {here.system}, Python {here.python}, torch {here.torch}; "
        f"load {here.load:.1f} at the start."
    )


def show_s(seconds: float) -> str:
    """Three digits, with the unit that fits."""
    size = abs(seconds)
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "us")):
        if size * factor >= 0.9995 or unit == "us":
            value = seconds * factor
            digits = 0 if abs(value) >= 99.95 else 1 if abs(value) >= 9.995 else 2
            return f"{value:.{digits}f}{unit}"
    raise AssertionError("the last unit takes everything")


def show_bytes(num_bytes: float) -> str:
    if abs(num_bytes) >= 999.5e6:
        return f"{num_bytes / 1e9:.2f}GB"
    return f"{num_bytes / 1e6:.0f}MB"
