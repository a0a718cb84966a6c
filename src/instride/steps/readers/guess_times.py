"""Which columns of a log tell the time, and whether of a step or since the start."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import isnan, log
from statistics import median

import msgspec

from instride.steps.readers.guess_columns import FEWEST_RECORDS, Column, stride_of
from instride.steps.readers.guess_slots import scale_of
from instride.steps.readers.guess_words import (
    AMOUNTS,
    AVERAGE,
    DATA,
    METRIC,
    PER_STEP,
    PHASE,
    RATE,
    REMAINING,
    SAYS_UNIT,
    STAMP,
    STEP,
    TIME,
    TIME_UNITS,
    TOTAL,
    is_any,
)
from instride.steps.stamps import DAY_S

FAR_ON_S = 300.0
COVERAGE = 0.6
"""Share of the records that must have a time: the first ones often have none."""


class Times(msgspec.Struct):
    """The columns that tell the time of a record."""

    seconds: Column | None = None
    scale: float = 1.0
    is_rate: bool = False
    is_interval: bool = False
    """The duration is that of all steps since the last record, not of one."""
    elapsed: Column | None = None
    elapsed_scale: float = 1.0
    data: Column | None = None
    data_scale: float = 1.0
    stamp: Column | None = None
    """A timestamp that is a value of its own, not a prefix of the line."""


def choose_times(columns: Sequence[Column], steps: Sequence[int], walls: Sequence[float]) -> Times:
    """Choose the time columns among all, given the steps and the wall clock (NaN if unknown)."""
    times = Times()
    is_dated = not all(isnan(wall) for wall in walls)
    stamps = [column for column in columns if _is_stamp(column)]
    if stamps and not is_dated:
        times.stamp, is_dated = stamps[0], True
        walls = times.stamp.values
    usable = [column for column in columns if _is_time(column) and _covers(column, steps)]
    totals = [column for column in usable if _is_running_total(column, steps)]
    singles = [column for column in usable if column not in totals]
    data = [column for column in singles if column.has(DATA)]
    plain = [column for column in singles if column not in data]
    if data and (plain or is_dated or totals):
        times.data = min(data, key=_rank)
        times.data_scale = _scale(times.data)
    of_day = [column for column in usable if _is_time_of_day(column, steps)]
    if of_day and not is_dated:
        times.stamp, is_dated = of_day[0], True
        walls = _over_midnight(of_day[0].values)
    totals = [column for column in totals if column not in of_day]
    plain = [column for column in plain if column not in of_day]
    if totals and not is_dated:
        times.elapsed = min(totals, key=lambda c: (not c.has(TOTAL), c.has(PHASE), _rank(c)))
        times.elapsed_scale = _scale(times.elapsed)
        walls = [value * times.elapsed_scale for value in times.elapsed.values]
    if is_dated or totals:
        plain = [column for column in plain if not column.has(AVERAGE)]
    if plain:
        times.seconds = min(plain, key=_rank)
        times.scale = _scale(times.seconds)
        _calibrate(times, steps, walls)
    if times.seconds is None and times.elapsed is None and not is_dated:
        _choose_rate(times, columns, steps)
    return times


def _is_time(column: Column) -> bool:
    if column.has(REMAINING) or column.has(AMOUNTS) or is_any(column.last_word, METRIC):
        return False
    if RATE.fullmatch(column.unit) or _is_named_rate(column):
        return False
    if column.kind != "number":
        return column.kind != "stamp"
    if column.unit in TIME_UNITS or PER_STEP.fullmatch(column.unit):
        return column.unit not in ("m", "h") or column.has(TIME)
    if column.unit:
        return False
    return column.has(TIME) or column.last_word == "data" or _is_abbreviated(column)


def _is_stamp(column: Column) -> bool:
    """Timestamps as text, or as seconds since 1970."""
    known = [value for value in column.values if not isnan(value)]
    if len(known) < COVERAGE * len(column.values):
        return False
    if column.kind != "stamp" and not (column.has(STAMP) and 1e9 <= min(known) < max(known) < 4e9):
        return False
    return sum(a <= b for a, b in pairwise(known)) >= 0.9 * (len(known) - 1)


def _is_abbreviated(column: Column) -> bool:
    """`Batch (t): 0.5`."""
    return column.last_word == "t" and (column.has(STEP) or column.has(DATA))


def _is_named_rate(column: Column) -> bool:
    """`steps_per_sec`, `it/s` as names."""
    seconds = column.last_word in ("s", "sec", "second", "secs", "seconds")
    is_time = column.has(TIME - SAYS_UNIT)
    return seconds and not is_time and any(word in STEP for word in column.words[:-1])


def _covers(column: Column, steps: Sequence[int]) -> bool:
    """Whether enough records have a value, and the values are such as times have."""
    known = [value for value in column.values if not isnan(value)]
    if len(known) < COVERAGE * len(column.values):
        return False
    if sum(value < 0 for value in known) > 0.05 * len(known) or median(known) >= 1e9:
        return False
    if median(known) < 1e-7 and not column.has(DATA):
        return False
    # A clock without a name is the time since the start, or what remains until the end.
    return column.kind == "number" or bool(column.words) or _is_running_total(column, steps)


def _is_running_total(column: Column, steps: Sequence[int]) -> bool:
    """Whether values only grow, as a clock that is never reset does, but with the steps."""
    pairs = [
        (before, after)
        for (before, after), (old, new) in zip(
            pairwise(column.values), pairwise(steps), strict=True
        )
        if not isnan(before + after) and new > old
    ]
    if len(pairs) < FEWEST_RECORDS - 1:
        return False
    rises = sum(after >= before for before, after in pairs)
    grown = sum(after > before for before, after in pairs)
    if rises < 0.95 * len(pairs) or not grown:
        return False
    gains = [after - before for before, after in pairs if after >= before]
    typical, first = median(gains), min(before for before, _ in pairs)
    is_even = median(abs(gain - typical) for gain in gains) < 0.5 * typical
    if sum(gains) > 2 * sum(after - before for before, after in pairs):
        return False
    return is_even or column.has(TOTAL) or sum(gains) > first


def _is_time_of_day(column: Column, steps: Sequence[int]) -> bool:
    """Whether a clock was far on when the steps began: then it does not count from their start."""
    walls = _over_midnight(column.values)
    gaps = [
        (after - before, new - old)
        for (before, after), (old, new) in zip(pairwise(walls), pairwise(steps), strict=True)
        if new > old and not isnan(before + after)
    ]
    if column.kind != "clock" or column.has(TOTAL) or len(gaps) < FEWEST_RECORDS - 1:
        return False
    if max(column.values) >= DAY_S or any(gap < 0 for gap, _ in gaps):
        return False
    step_s = median(gap / num_steps for gap, num_steps in gaps)
    return column.values[0] > FAR_ON_S + 20 * step_s * steps[0]


def _over_midnight(clock: Sequence[float]) -> list[float]:
    walls: list[float] = []
    last = 0.0
    for time in clock:
        if not isnan(time):
            last = time + DAY_S * max(0, round((last - time) / DAY_S))
        walls.append(time if isnan(time) else last)
    return walls


def _rank(column: Column) -> tuple[bool, ...]:
    """Which of several durations is that of a step: a plain one, named after it."""
    per_step = PER_STEP.fullmatch(column.unit) is not None
    return (
        column.has(AVERAGE),
        column.has(PHASE),
        not (per_step or column.has(STEP) or "dt" in column.words),
        not column.has(TIME),
        not (column.unit or column.words[-1:] == ("ms",)),
    )


def _scale(column: Column) -> float:
    return 1.0 if column.kind != "number" else scale_of(column.words, column.unit) or 1.0


def _calibrate(times: Times, steps: Sequence[int], walls: Sequence[float]) -> None:
    """Find out what the printed duration covers, where a clock can tell; else by its name."""
    column = times.seconds
    assert column is not None
    stride, _ = stride_of(steps)
    per_step = PER_STEP.fullmatch(column.unit) is not None or column.has(STEP)
    gaps = [
        (after - before) / (new - old)
        for (before, after), (old, new) in zip(pairwise(walls), pairwise(steps), strict=True)
        if new > old and after >= before
    ]
    printed = [value * times.scale for value in column.values if not isnan(value)]
    if len(gaps) < FEWEST_RECORDS - 1 or not median(gaps):
        times.is_interval = stride > 1 and not per_step and column.has(TOTAL)
        return
    ratio = median(printed) / median(gaps)
    covers = [(1.0, 1), (1.0, stride)]
    if column.kind == "number" and not column.unit and not column.has(SAYS_UNIT):
        covers += [(1e-3, 1), (1e-3, stride)]
    scale, num_steps = min(covers, key=lambda c: abs(log(ratio * c[0] / c[1])))
    if ratio * scale > 3 * num_steps:
        times.seconds = None
    times.scale *= scale
    times.is_interval = num_steps > 1


def _choose_rate(times: Times, columns: Sequence[Column], steps: Sequence[int]) -> None:
    rates = [
        column
        for column in columns
        if (RATE.fullmatch(column.unit) or _is_named_rate(column)) and _covers(column, steps)
    ]
    if rates:
        times.seconds = min(rates, key=lambda c: (c.has(AVERAGE), c.has(PHASE)))
        times.is_rate = True
