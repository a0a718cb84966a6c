"""The table of `instride bench save`, on the screen and as Markdown."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from instride.bench.bars import LEAST_STATE_BYTES, Bar, bars
from instride.bench.names import FEWEST_SAVES, OURS, STEPS_TO_PREPARE, saves_nothing
from instride.bench.report import Machine, Report, Row
from instride.cli.render.sheet import Sheet
from instride.cli.render.text import make_console
from instride.explain.languages import DEFAULT, LANGUAGES

HEADS = ("way", "call", "first", "cost", "+-", "done", "beside", "worst", "memory")
MEANINGS = (
    "call, first: what `save` takes, and the first of a process. cost: what training pays, from "
    "the call until nothing of it goes on, less as many steps without a save around it; +- between "
    "the quartiles. done: until the way says so, while nobody trains; beside: while every core "
    "trains. worst: the longest step behind a save. memory: above `none`. Medians; `none again` "
    "shows the noise."
)
TORN = "!"
UNSYNCED = "*"
FOOTNOTES = {
    TORN: "torn: a snapshot held what was written after the call. This row does not count.",
    UNSYNCED: "not fsynced: done means that it is in memory, and on the disk some time later.",
}


def print_report(report: Report, console: Console | None = None) -> None:
    sheet = Sheet(console or make_console(), LANGUAGES[DEFAULT])
    sheet.paragraph(describe(report), "")
    sheet.blank()
    table = [HEADS, *(cells(row) for row in report.rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for number, line in enumerate(table):
        text = line[0].ljust(widths[0]) + "".join(
            cell.rjust(width + 1) for cell, width in zip(line[1:], widths[1:], strict=True)
        )
        sheet.line((text, "bold") if number == 0 else text)
    sheet.blank()
    for note in notes(report):
        sheet.paragraph(note, "  ", "")
    promises = bars(report)
    if promises:
        sheet.blank()
        for bar in promises:
            sheet.line(f"  {bar.what:<40} {verdict(bar)}")


def write_record(report: Report, path: str, command: str, day: datetime.date) -> None:
    """Write a page for the repository: what was measured, where, when, and by which command."""
    lines = [
        "# Ways of saving",
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
    ]
    if promises := bars(report):
        lines += ["", "| promise | measured |", "|---|---|"]
        lines += [markdown_row([bar.what, verdict(bar)]) for bar in promises]
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def describe(report: Report) -> str:
    here: Machine = report.machine
    return (
        f"State of {show_bytes(report.state_bytes)}, a step takes {show_s(report.base_step_s)}. "
        f"{_gpu(here)}{here.cores} cores, {here.cpu}, {show_bytes(here.memory_bytes)} of memory, "
        f"{here.filesystem}; {here.system}, Python {here.python}, torch {here.torch}; "
        f"load {here.load:.1f} at the start."
    )


def _gpu(here: Machine) -> str:
    return "" if here.gpu is None else f"{here.gpu}, "


def cells(row: Row) -> tuple[str, ...]:
    marks = TORN * row.torn + UNSYNCED * (not row.synced and not saves_nothing(row.name))
    return (
        f"{row.name} {marks}".strip(),
        show_s(row.call_s),
        show_s(row.first_call_s),
        show_s(row.cost_s),
        show_s(row.cost_spread_s),
        show_s(row.durable_s),
        show_s(row.durable_beside_s),
        show_s(row.worst_step_s),
        "-" if row.peak_host_bytes is None else show_bytes(row.peak_host_bytes),
    )


def notes(report: Report) -> list[str]:
    """What one has to know to read the table."""
    floors = report.floors
    found = [
        f"floors: copying the state in memory {show_s(floors.memcpy_s)}, writing it directly "
        f"{show_s(floors.direct_write_s)}",
        *_device_notes(report),
        MEANINGS,
    ]
    if any(row.torn for row in report.rows):
        found.append(f"{TORN} {FOOTNOTES[TORN]}")
    if any(not row.synced and not saves_nothing(row.name) for row in report.rows):
        found.append(f"{UNSYNCED} {FOOTNOTES[UNSYNCED]}")
    found += [f"left out: {each.name} ({each.why})" for each in report.left_out]
    if bars(report) and report.state_bytes < LEAST_STATE_BYTES:
        found.append("the promises are for a state of 1 GB or more; this one is too small to tell")
    num_saves = min(row.num_saves for row in report.rows)
    if num_saves < FEWEST_SAVES:
        found.append(f"only {num_saves} saves each: too few for a result, {FEWEST_SAVES} will do")
    return found


def _device_notes(report: Report) -> list[str]:
    floors = report.device_floors
    if floors is None:
        return []
    found = [
        f"floors of the GPU: copying the state inside it {show_s(floors.copy_s)}, over the bus "
        f"{show_s(floors.bus_s)}, reading it directly {show_s(floors.direct_read_s)}",
        "the loop waits for the GPU after every step"
        if report.is_synced_loop
        else "the loop does not wait for the GPU after a step: single steps tell nothing",
    ]
    ours = next((row for row in report.rows if row.name == OURS), None)
    if ours is not None and report.restored is not None:
        back = report.restored
        found.append(
            f"{OURS}: preparing cost the {STEPS_TO_PREPARE} steps before the first save "
            f"{show_s(ours.prepare_cost_s)}; a save costs {show_s(ours.early_cost_s)} in the first "
            f"ten steps, the first one {show_s(ours.first_early_cost_s)}; restored in "
            f"{show_s(back.restore_s)}, a step takes {show_s(back.step_after_s)} after that and "
            f"took {show_s(back.step_before_s)} before"
        )
    return found


def verdict(bar: Bar) -> str:
    show = show_bytes if bar.unit == "B" else show_s
    word = "kept" if bar.is_kept else "missed"
    return f"{show(bar.measured)}, at most {show(bar.limit)}: {word}"


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
