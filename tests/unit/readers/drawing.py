"""Bars as tqdm draws them, for the tests of readers that read them."""

from __future__ import annotations

from collections.abc import Iterable

from instride.steps.model import Run
from instride.steps.readers.contract import Reader
from instride.steps.recording import Recording


def clock(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes:02}:{seconds:02}"


def draw(
    n: int, total: int | None, elapsed_s: float, name: str = "", unit: str = "it", more: str = ""
) -> str:
    """One drawing; the rate in it is nonsense on purpose, as nobody should read it."""
    named = f"{name}: " if name else ""
    more = f", {more}" if more else ""
    if total is None:
        return f"{named}{n}{unit} [{clock(elapsed_s)}, 99.99{unit}/s{more}]"
    rate = f"?{unit}/s" if elapsed_s == 0 else f"99.99s/{unit}"
    percents = f"{100 * n / total:3.0f}%|{'#' * (10 * n // total):10}|"
    return f"{named}{percents} {n}/{total} [{clock(elapsed_s)}<1:23:45, {rate}{more}]"


def read(reader_type: type[Reader], lines: Iterable[str]) -> Run:
    """Read lines; carriage returns in them cut pieces that share the number of their line."""
    log = Recording(reader_type.dialect)
    reader = reader_type(log)
    for number, line in enumerate(lines, 1):
        for piece in line.split("\r"):
            reader.feed(number, piece)
    reader.finish()
    return log.finish()
