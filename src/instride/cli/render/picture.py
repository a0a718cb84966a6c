"""A small picture of step time over steps, in characters: spikes and plateaus show."""

from __future__ import annotations

from math import log
from statistics import median

import msgspec
from rich.cells import cell_len

from instride.cli.render.sheet import STYLES, Sheet
from instride.cli.render.wrapping import pad_left
from instride.explain.ledger import Ledger
from instride.explain.spans import Owner

HEIGHT = 6
MARGIN = 11
"""Columns for the scale at the left, at least."""
FEWEST_RECORDS = 8
SAMPLES = 200
"""Records looked at in a column; spikes are known from the spans."""
DEPTH = 1e-4
"""The lowest step time that is told from zero, as a share of the highest."""
TINIEST_S = 1e-9


class Column(msgspec.Struct):
    """What one column of the picture shows."""

    middle_s: float
    top_s: float
    owner: Owner | None
    starts: bool
    """A process starts in it."""


class Picture(msgspec.Struct):
    rows: list[list[tuple[str, Owner | None]]]
    """From top to bottom, characters with the owner that colours them."""
    scale: list[float | None]
    """What the rows stand for in seconds, where a label fits."""
    axis: str
    first_step: int
    last_step: int
    highest_step: int


class Glyphs(msgspec.Struct, frozen=True):
    full: str
    eighths: str
    thin: str
    line: str
    start: str


UNICODE = Glyphs(
    "\u2588", " \u2581\u2582\u2583\u2584\u2585\u2586\u2587", "\u2502", "\u2500", "\u252c"
)
ASCII = Glyphs("#", " ____###", "|", "-", "+")


def print_picture(sheet: Sheet, ledger: Ledger) -> None:
    """Print the picture with its scale, unless there is too little to see."""
    if len(ledger.timeline.run) < FEWEST_RECORDS:
        return
    say = sheet.language
    glyphs = UNICODE if sheet.is_unicode else ASCII
    picture = draw(ledger, sheet.width - MARGIN - 1, glyphs)
    labels = ["" if scale is None else say.seconds(scale) for scale in picture.scale]
    margin = max(MARGIN, *(cell_len(label) + 1 for label in labels))
    if margin > MARGIN:
        picture = draw(ledger, sheet.width - margin - 1, glyphs)
    sheet.blank()
    sheet.line((say.screen_phrases["picture"], "bold"))
    for row, label in zip(picture.rows, labels, strict=True):
        cells = [(char, STYLES[owner or Owner.COMPUTE]) for char, owner in row]
        sheet.line((pad_left(label, margin - 1) + " ", "dim"), *cells)
    first, last = say.number(picture.first_step), say.number(picture.last_step)
    if picture.last_step < picture.highest_step:
        # It ends with steps that were done again: the mark stands for the start in between.
        last = f"{say.number(picture.highest_step)} {glyphs.start} {last}"
    gap = max(1, len(picture.axis) - len(first) - len(last))
    sheet.line((" " * margin + picture.axis, "dim"))
    sheet.line((" " * margin + first + " " * gap + last, "dim"))


def draw(ledger: Ledger, width: int, glyphs: Glyphs) -> Picture:
    """Draw the run, `width` characters wide: medians as blocks, the slowest as thin lines."""
    columns = _columns(ledger, width)
    high = max(column.top_s for column in columns)
    low = max(min(column.middle_s for column in columns), high * DEPTH, TINIEST_S)
    floor = low * 0.6
    is_log = high > 6 * low
    ceiling = max(high, low * 1.6)

    def height(seconds: float) -> float:
        seconds = max(seconds, floor)
        if is_log:
            return HEIGHT * log(seconds / floor) / log(ceiling / floor)
        return HEIGHT * (seconds - floor) / (ceiling - floor)

    rows = [
        [
            _cell(height(each.middle_s) - row, height(each.top_s) - row, each, glyphs)
            for each in columns
        ]
        for row in range(HEIGHT - 1, -1, -1)
    ]
    scale: list[float | None] = [None] * HEIGHT
    scale[0] = ceiling
    base_row = HEIGHT - 1 - min(HEIGHT - 1, int(height(ledger.main.base_s)))
    if base_row > 0:
        scale[base_row] = ledger.baseline_s
    axis = "".join(glyphs.start if column.starts else glyphs.line for column in columns)
    step = ledger.timeline.run.step
    return Picture(rows, scale, axis, step[0], step[-1], step.highest)


def _cell(middle: float, top: float, column: Column, glyphs: Glyphs) -> tuple[str, Owner | None]:
    """The character of a row, from how far the median and the slowest reach into it."""
    if middle >= 1:
        return glyphs.full, column.owner
    if middle > 0 and (top < 0.5 or middle >= 0.125):
        if top >= 1:
            return glyphs.full if middle > 0.5 else glyphs.thin, column.owner
        return glyphs.eighths[int(8 * middle)], column.owner
    if top > 0.3:
        return glyphs.thin, column.owner
    return " ", None


def _columns(ledger: Ledger, width: int) -> list[Column]:
    timeline = ledger.timeline
    total = len(timeline.run)
    width = min(width, total)
    starts = {process.begin for process in timeline.processes[1:]}
    columns: list[Column] = []
    for number in range(width):
        begin, end = total * number // width, total * (number + 1) // width
        process = timeline.process_of(begin)
        sample = range(begin, end, 1 + (end - begin) // SAMPLES)
        values = [v for i in sample if (v := timeline.value(i, process)) > 0]
        middle = median(values) if values else ledger.main.base_s
        top = max(values, default=middle)
        is_start = any(begin <= start < end for start in starts)
        columns.append(Column(middle, top, None, is_start))
    for span in ledger.spans:
        _paint(ledger, columns, span.begin, span.end, span.owner, total)
    return columns


def _paint(
    ledger: Ledger, columns: list[Column], begin: int, end: int, owner: Owner, total: int
) -> None:
    """Colour the columns of a span, and let its slowest record stand out."""
    timeline, width = ledger.timeline, len(columns)
    first, last = ((begin + 1) * width - 1) // total, (end * width - 1) // total
    peak = max(timeline.value(i, timeline.process_of(i)) for i in (begin, end - 1))
    for number in range(first, last + 1):
        columns[number].owner = owner
    columns[first].top_s = max(columns[first].top_s, peak)
