"""The table of `instride bench interference`, on the screen and as Markdown with its picture."""

from __future__ import annotations

import datetime
from pathlib import Path

from rich.console import Console

from instride.bench.bars import Bar
from instride.bench.interference.bars import bars, hurts
from instride.bench.interference.report import Report, Row
from instride.cli.render.bench import markdown_row, show_bytes, show_s
from instride.cli.render.sheet import Sheet
from instride.cli.render.text import make_console
from instride.cli.render.traces import draw
from instride.explain.languages import DEFAULT, LANGUAGES

HEADS = ("beside the training", "median", "mean", "p95", "+-", "finish", "memory")
MEANINGS = (
    "median, mean, p95: of a step beside it, over the same in the pauses before and behind; +- "
    "between the quartiles of the blocks. finish: seconds at work until the file was compressed. "
    "`none again` shows the noise."
)


def print_report(report: Report, console: Console | None = None) -> None:
    sheet = Sheet(console or make_console(), LANGUAGES[DEFAULT])
    sheet.paragraph(describe(report), "")
    sheet.blank()
    table = [HEADS, *(cells(row) for row in report.rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for number, line in enumerate(table):
        text = line[0].ljust(widths[0]) + "".join(
            cell.rjust(width + 2) for cell, width in zip(line[1:], widths[1:], strict=True)
        )
        sheet.line((text, "bold") if number == 0 else text)
    sheet.blank()
    for note in notes(report):
        sheet.paragraph(note, "  ", "")
    sheet.blank()
    for bar in bars(report):
        sheet.line(f"  {bar.what:<40} {verdict(bar)}")


def write_record(report: Report, path: str, command: str, day: datetime.date) -> None:
    """Write a page for the repository, and the picture of the steps beside it."""
    page = Path(path)
    picture = page.with_suffix(".svg")
    picture.write_text(draw(report), encoding="utf-8")
    lines = [
        f"# Compressing beside a training: {report.scenario}",
        "",
        f"{describe(report)} {day:%Y-%m-%d}.",
        "",
        f"    {command}",
        "",
        markdown_row(HEADS),
        markdown_row(["---"] + ["--:"] * (len(HEADS) - 1)),
        *(markdown_row(cells(row)) for row in report.rows),
        "",
        *(f"- {note}" for note in notes(report)),
        "",
        f"![Step times beside the naive way, the nice one, and instride]({picture.name})",
    ]
    if promises := bars(report):
        lines += ["", "| promise | measured |", "|---|---|"]
        lines += [markdown_row([bar.what, verdict(bar)]) for bar in promises]
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


def describe(report: Report) -> str:
    here = report.machine
    return (
        f"A file of {show_bytes(report.file_bytes)} beside a training that needs the "
        f"{report.scenario}; a step takes {show_s(report.base_step_s)}. {here.cores} cores, "
        f"{here.cpu}, {show_bytes(here.memory_bytes)} of memory, {here.filesystem}; {here.system}, "
        f"Python {here.python}, torch {here.torch}; load {here.load:.1f} at the start."
    )


def cells(row: Row) -> tuple[str, ...]:
    return (
        row.name,
        f"{row.median_inflation:.2f}x",
        f"{row.mean_inflation:.2f}x",
        f"{row.p95_inflation:.2f}x",
        f"{row.spread:.2f}",
        "-" if row.finish_s is None else show_s(row.finish_s),
        show_bytes(row.peak_bytes) if row.peak_bytes else "-",
    )


def notes(report: Report) -> list[str]:
    """What one has to know to read the table."""
    found = [
        MEANINGS,
        f"{min(row.num_blocks for row in report.rows)} blocks a row, of {report.block_s:g} s; "
        f"{report.took_s:.0f} s in all",
    ]
    found += [f"{row.name} says: {row.said}" for row in report.rows if row.said]
    if not hurts(report):
        found.append("on this machine the naive way hardly hurts here: nothing is to be told")
    return found


def verdict(bar: Bar) -> str:
    word = "kept" if bar.is_kept else "missed"
    if bar.unit == "B":
        return f"{show_bytes(bar.measured)}, at most {show_bytes(bar.limit)}: {word}"
    return f"{bar.measured:.3f}x, at most {bar.limit:.3f}x: {word}"
