"""Tables of unknown origin: a row of names, then rows of values, one a record."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from itertools import islice
from math import isnan, nan

import msgspec

from instride.steps.readers.guess_columns import (
    Column,
    count_through,
    counts_up,
    stride_of,
)
from instride.steps.readers.guess_times import Times, choose_times
from instride.steps.readers.guess_words import EPOCH, EVALUATION, METRIC, STEP, is_any, subwords
from instride.steps.stamps import Stamps, span_s

HEADER_WITHIN = 400
"""Lines: what is no table by then is a log with tables in it."""
FEWEST_COLUMNS = 2
MOST_ROWS = 5000
SEPARATORS = (",", ";", "\t", "|", " ")
FEWEST_ROWS = 5


class LearntTable(msgspec.Struct):
    """Which columns of a table hold what; the last ones by their positions."""

    separator: str
    header: list[str]
    step: Column
    step_at: int
    times: Times
    stride: int
    epoch: Column | None
    epoch_at: int | None
    first_epoch: int
    seconds_at: int | None = None
    elapsed_at: int | None = None
    stamp_at: int | None = None
    data_at: int | None = None
    evals_at: list[int] = []
    """Columns that are filled where there was an evaluation."""

    def cells(self, line: str) -> list[str] | None:
        """The values of a row; None for a line that is none."""
        cells = split(line, self.separator)
        if len(cells) != len(self.header) or not cells[self.step_at][:1].isdecimal():
            return None
        return cells


def split(line: str, separator: str) -> list[str]:
    if '"' in line and "\r" not in line and "\n" not in line:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=separator), [])]
    if separator == " ":
        return line.split()
    if separator == "|":
        line = line.strip().strip("|")
    return [cell.strip() for cell in line.split(separator)]


def learn_table(lines: Sequence[tuple[int, str]]) -> LearntTable | None:
    """The first table whose columns are steps and times; None if there is none."""
    for position, (_, line) in enumerate(islice(lines, HEADER_WITHIN)):
        for separator in SEPARATORS:
            header = split(line, separator) if separator in line else []
            if _is_header(header):
                rows = _rows(lines[position + 1 :], separator, len(header))
                found = _learn(separator, header, rows) if len(rows) >= FEWEST_ROWS else None
                if found is not None:
                    return found
    return None


def _is_header(cells: list[str]) -> bool:
    """Names only, one of which is a step's or an epoch's."""
    if len(cells) < FEWEST_COLUMNS or any(len(cell) > 60 for cell in cells):
        return False
    if any(span_s(cell) is not None for cell in cells):
        return False
    lasts = [(subwords(cell) or ("",))[-1] for cell in cells]
    return any(is_any(last, STEP) or is_any(last, EPOCH) for last in lasts)


def _rows(lines: Sequence[tuple[int, str]], separator: str, width: int) -> list[list[str]]:
    """The rows below a header; other lines may lie between, but not more of them than rows."""
    rows: list[list[str]] = []
    for seen, (_, line) in enumerate(lines):
        cells = split(line, separator) if separator in line else []
        if len(cells) == width and sum(not isnan(_value(cell)) for cell in cells) >= 2:
            rows.append(cells)
        if len(rows) >= MOST_ROWS or seen > 2 * len(rows) + 20:
            break
    return rows


def _value(cell: str) -> float:
    value = span_s(cell)
    return nan if value is None else value


def _learn(separator: str, header: list[str], rows: list[list[str]]) -> LearntTable | None:
    columns = [_column(name, [row[at] for row in rows]) for at, name in enumerate(header)]
    for names in (STEP, EPOCH):
        for at, column in enumerate(columns):
            if is_any(column.last_word, names) and column.is_whole:
                found = _learn_by(at, columns, is_epoch=names is EPOCH)
                if found is not None:
                    found.separator, found.header = separator, header
                    return found
    return None


def _column(name: str, cells: list[str]) -> Column:
    values = [_value(cell) for cell in cells]
    filled = [cell for cell in cells if cell]
    kind = "clock" if any(":" in cell for cell in filled) else "number"
    if all(isnan(value) for value in values) and filled:
        stamps = Stamps()
        found = [stamps.read(cell) for cell in cells]
        values = [nan if stamp is None else stamp for stamp in found]
        kind = "stamp"
    whole = bool(filled) and all(cell.isdecimal() and len(cell) < 16 for cell in filled)
    return Column(name, subwords(name), "", kind, values, whole, [None] * len(cells))


def _learn_by(at: int, columns: list[Column], is_epoch: bool) -> LearntTable | None:
    """The table if this column counts its steps."""
    chosen = columns[at]
    filled = [index for index, value in enumerate(chosen.values) if not isnan(value)]
    columns = [_only(column, filled) for column in columns]
    step, others = columns[at], columns[:at] + columns[at + 1 :]
    steps = [int(value) for value in step.values]
    epoch = None if is_epoch else next((c for c in others if _counts_epochs(c)), None)
    first_epoch, through = 1, None
    if epoch is not None:
        epochs = [int(value) for value in epoch.values]
        first_epoch = 0 if min(epochs) == 0 else 1
        through = count_through(epochs, step, first_epoch)
    steps = through or steps
    if not counts_up(steps):
        return None
    times = choose_times([c for c in others if c is not epoch], steps, [nan] * len(steps))
    is_timed = bool(times.seconds or times.elapsed or times.stamp)
    if not is_timed and not any(is_any(column.last_word, METRIC) for column in others):
        return None

    def where(column: Column | None) -> int | None:
        return next((i for i, other in enumerate(columns) if other is column), None)

    return LearntTable(
        separator="",
        header=[],
        step=step,
        step_at=at,
        times=times,
        stride=stride_of(steps)[0],
        epoch=epoch if through is not None else None,
        epoch_at=where(epoch) if through is not None else None,
        first_epoch=first_epoch,
        seconds_at=where(times.seconds),
        elapsed_at=where(times.elapsed),
        stamp_at=where(times.stamp),
        data_at=where(times.data),
        evals_at=[i for i, column in enumerate(columns) if _tells_evaluations(column)],
    )


def _only(column: Column, rows: list[int]) -> Column:
    values = [column.values[row] for row in rows]
    return msgspec.structs.replace(column, values=values, totals=[None] * len(rows))


def _counts_epochs(column: Column) -> bool:
    known = not any(isnan(value) for value in column.values)
    return column.is_whole and known and is_any(column.last_word, EPOCH)


def _tells_evaluations(column: Column) -> bool:
    """Whether a column is named after evaluations and filled in some rows only."""
    known = sum(not isnan(value) for value in column.values)
    return column.has(EVALUATION) and 0 < known < 0.5 * len(column.values)
