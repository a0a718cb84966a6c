"""Logs of trainers that nobody has heard of: what is made of each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate, pairwise
from math import isnan
from typing import NamedTuple

import pytest

from instride.explain.languages import LANGUAGES
from instride.steps.model import Run
from instride.steps.readers.guess import guess
from instride.steps.recording import Recording

SECONDS = [2.25, 0.51, 0.5, 0.52, 0.49, 0.5, 3.75, 0.51, 0.5, 0.53, 0.5, 0.48, 0.51, 0.5]
START = datetime(2025, 3, 1, 23, 59, 57, 250000, tzinfo=UTC)


class Row(NamedTuple):
    """One record of a training, to be printed in some style."""

    n: int
    seconds: float
    elapsed: float
    loss: float

    @property
    def ms(self) -> float:
        return self.seconds * 1000

    @property
    def when(self) -> datetime:
        return START + timedelta(seconds=self.elapsed)

    @property
    def clock(self) -> str:
        whole = int(self.elapsed)
        return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"


def rows(seconds: Sequence[float] = SECONDS, steps_each: int = 1) -> list[Row]:
    elapsed = accumulate(s * steps_each for s in seconds)
    return [
        Row(n, s, e, 4.0 - 0.05 * n + 0.01 * (n % 3))
        for n, (s, e) in enumerate(zip(seconds, elapsed, strict=True))
    ]


class Style(NamedTuple):
    name: str
    line: Callable[[Row], str]
    step: Callable[[int], int]
    """The step of record n."""
    tells: str
    """What the log tells: `seconds`, `wall` or both."""
    words: str
    """A part of what the user is told."""
    header: str = ""
    within: float = 0.0006
    """How exactly times are printed."""
    every: int = 1
    """Steps between two records."""


def stamp(row: Row, form: str) -> str:
    return row.when.strftime(form)


def millis(row: Row, form: str, dot: str = ".") -> str:
    return f"{row.when.strftime(form)}{dot}{row.when.microsecond // 1000:03}"


STYLES = [
    Style(
        "plain print",
        lambda r: f"step {r.n} loss {r.loss:.4f} time {r.seconds:.3f}s",
        lambda n: n,
        "seconds",
        "step after `step`, seconds after `time`",
    ),
    Style(
        "tabs and no units",
        lambda r: f"iter\t{r.n + 1}\tloss\t{r.loss:.3f}\tdt\t{r.seconds:.4f}",
        lambda n: n + 1,
        "seconds",
        "seconds after `dt`",
    ),
    Style(
        "milliseconds in the name",
        lambda r: f"it={r.n} | loss={r.loss:.3f} | iter_time_ms={r.ms:.1f} | lr=3e-4",
        lambda n: n,
        "seconds",
        "milliseconds after `iter_time_ms`",
    ),
    Style(
        "tutorial with epochs and batches",
        lambda r: (
            f"Epoch [{r.n // 6 + 1}/3], Step [{r.n % 6 * 100 + 100}/600], Loss: {r.loss:.4f}, "
            f"Time per step: {r.ms:.1f} ms"
        ),
        lambda n: (n // 6) * 600 + n % 6 * 100 + 100,
        "seconds",
        "counted on through the epochs after `Epoch`",
        every=100,
    ),
    Style(
        "bar of an epoch with dashes",
        lambda r: (
            f"Epoch {r.n // 5 + 1}/10 - {r.n % 5 * 9 + 9}/45 - loss {r.loss:.2f} "
            f"- {r.ms:.0f}ms/step"
        ),
        lambda n: (n // 5) * 45 + n % 5 * 9 + 9,
        "seconds",
        "milliseconds before `ms/step`",
        every=9,
    ),
    Style(
        "epochs as steps",
        lambda r: f"{r.seconds:.2f}s - epoch {r.n + 1} - loss: {r.loss:.4f} - acc: 0.{50 + r.n}",
        lambda n: n + 1,
        "seconds",
        "step after `epoch`, seconds before `s`",
    ),
    Style(
        "fractions in brackets after a train label",
        lambda r: (
            f"Train: {r.n // 7} [{r.n % 7 * 50:>4}/350 ({r.n % 7 * 14:>3}%)]  Loss: {r.loss:#.4g}  "
            f"Time: {r.seconds:.3f}s, 250.1/s  (0.530s,  244.0/s)  LR: 1.0e-3  Data: 0.010 (0.020)"
        ),
        lambda n: n % 7 * 50 + (n // 7) * 350,
        "seconds",
        "seconds after `Time`",
        every=50,
    ),
    Style(
        "logging module",
        lambda r: (
            f"{millis(r, '%Y-%m-%d %H:%M:%S', ',')} - trainer - INFO - "
            f"iteration {r.n * 10}: loss={r.loss:.3f}"
        ),
        lambda n: n * 10,
        "wall",
        "timestamps on the lines",
        within=0.0011,
    ),
    Style(
        "time of the day only, over midnight",
        lambda r: f"[{millis(r, '%H:%M:%S')}] batch {r.n + 5}/900 loss {r.loss:.3f}",
        lambda n: n + 5,
        "wall",
        "without a date",
        within=0.0011,
    ),
    Style(
        "month and day",
        lambda r: (
            f"{millis(r, '%m/%d %H:%M:%S')} trainer.py:88] update {r.n}, "
            f"objective loss {r.loss:.2f}"
        ),
        lambda n: n,
        "wall",
        "timestamps on the lines",
        within=0.0011,
    ),
    Style(
        "letters and digits before the time",
        lambda r: (
            f"I{millis(r, '%m%d %H:%M:%S')}456 4711 solver.cc:12] "
            f"Iteration {r.n * 20}, loss = {r.loss}"
        ),
        lambda n: n * 20,
        "wall",
        "step after `Iteration`",
        within=0.0011,
    ),
    Style(
        "seconds since 1970",
        lambda r: f"{r.when.timestamp():.3f} train_step={r.n} loss={r.loss:.3f} lr=0.001",
        lambda n: n,
        "wall",
        "step after `train_step`",
        within=0.0011,
    ),
    Style(
        "elapsed clock",
        lambda r: f"Step {r.n * 25} | elapsed {r.clock} | loss {r.loss:.3f} | eta 2:00:0{r.n % 10}",
        lambda n: n * 25,
        "wall",
        "time since the start after `elapsed`",
        within=1.0,
    ),
    Style(
        "elapsed seconds under a plain name",
        lambda r: f"[{r.n:05d}] step={r.n} time={r.elapsed:.2f} loss={r.loss:.3f}",
        lambda n: n,
        "wall",
        "time since the start after `time`",
        within=0.011,
    ),
    Style(
        "minutes and seconds since the start",
        lambda r: (
            f"{int(r.elapsed) // 60}m {int(r.elapsed) % 60}s (- 12m 3s) "
            f"({r.n * 500 + 500} {r.n}%) loss {r.loss:.4f}"
        ),
        lambda n: n * 500 + 500,
        "wall",
        "time since the start",
        within=1.0,
    ),
    Style(
        "step, average and data times",
        lambda r: (
            f"iter {r.n} avg_time 0.612 s batch_time {r.seconds:.3f} s "
            f"data_time 0.0{r.n % 4 + 1} s loss {r.loss:.3f} eta 3.2 s"
        ),
        lambda n: n,
        "seconds",
        "seconds after `batch_time`, waiting for data after `data_time`",
    ),
    Style(
        "total clock and step time",
        lambda r: (
            f"#{r.n} steps={r.n * 2} loss={r.loss:.3f} took={r.seconds:.2f}s total={r.elapsed:.1f}s"
        ),
        lambda n: n * 2,
        "seconds",
        "time since the start after `total`",
        within=0.006,
        every=2,
    ),
    Style(
        "rate only",
        lambda r: f"Global step: {r.n * 4:,} loss {r.loss:.3f} speed {1 / r.seconds:.4f} it/s",
        lambda n: n * 4,
        "seconds",
        "steps a second",
        within=0.001,
    ),
    Style(
        "JSON lines",
        lambda r: f'{{"loss": {r.loss:.3f}, "step": {r.n}, "step_time": {r.seconds}, "lr": 0.001}}',
        lambda n: n,
        "seconds",
        "step after `step`, seconds after `step_time`",
    ),
    Style(
        "JSON lines with a timestamp",
        lambda r: (
            f'{{"ts": "{r.when.isoformat()}", "level": "info", "global_step": {r.n * 5}, '
            f'"metrics": {{"loss": {r.loss:.3f}}}}}'
        ),
        lambda n: n * 5,
        "wall",
        "step after `global_step`",
    ),
    Style(
        "JSON lines with seconds since 1970",
        lambda r: (
            f'{{"iteration": {r.n}, "timestamp": {r.when.timestamp():.3f}, "loss": {r.loss:.3f}}}'
        ),
        lambda n: n,
        "wall",
        "timestamps after `timestamp`",
        within=0.0011,
    ),
    Style(
        "dicts of Python after a prefix",
        lambda r: f"[rank0]: {{'step': {r.n}, 'loss': {r.loss:.2f}, 'dt_ms': {r.ms:.1f}}}",
        lambda n: n,
        "seconds",
        "milliseconds after `dt_ms`",
    ),
    Style(
        "CSV",
        lambda r: f"{r.n},{r.loss:.3f},{r.seconds},0.001",
        lambda n: n,
        "seconds",
        "step in column `step`, seconds in column `step_time`",
        header="step,loss,step_time,lr",
    ),
    Style(
        "semicolons and a running clock",
        lambda r: f"{r.n // 4 + 1};{r.n % 4};{r.loss:.3f};{r.elapsed:.2f}",
        lambda n: n,
        "wall",
        "epochs in column `epoch`, time since the start in column `elapsed`",
        header="epoch;iteration;loss;elapsed",
        within=0.011,
    ),
    Style(
        "a table with bars",
        lambda r: f"| {r.n + 1} | {r.loss:.3f} | {r.ms:.1f} |",
        lambda n: n + 1,
        "seconds",
        "milliseconds in column `time (ms)`",
        header="| iter | loss | time (ms) |",
    ),
    Style(
        "columns with spaces and a time of the day",
        lambda r: f"{r.n * 3:6d}  {r.loss:8.4f}  {millis(r, '%H:%M:%S')}",
        lambda n: n * 3,
        "wall",
        "timestamps in column `time`",
        header="  iter      loss          time",
        within=0.0011,
    ),
    Style(
        "Chinese",
        lambda r: (
            f"\u7b2c{r.n * 10}\u6b65\uff0c\u635f\u5931 {r.loss:.3f}\uff0c"
            f"\u8017\u65f6 {r.seconds:.3f}\u79d2"
        ),
        lambda n: n * 10,
        "seconds",
        "seconds after `\u8017\u65f6`",
    ),
    Style(
        "Japanese",
        lambda r: (
            f"\u30b9\u30c6\u30c3\u30d7 {r.n}: \u640d\u5931={r.loss:.3f} "
            f"\u6642\u9593={r.ms:.0f}\u30df\u30ea\u79d2"
        ),
        lambda n: n,
        "seconds",
        "step after `\u30b9\u30c6\u30c3\u30d7`",
    ),
    Style(
        "German",
        lambda r: f"Schritt {r.n}: Verlust {r.loss:.3f}, Dauer {r.seconds:.2f} s",
        lambda n: n,
        "seconds",
        "seconds after `Dauer`",
        within=0.006,
    ),
    Style(
        "epoch and bracketed batch, time with its mean",
        lambda r: (
            f"Epoch: [{r.n // 7}][{r.n % 7 * 10:>3}/70]\tTime  {r.seconds:.3f} ( 0.702)\t"
            f"Data  0.004 ( 0.020)\tLoss {r.loss:.4e} (3.9e+00)"
        ),
        lambda n: n * 10,
        "seconds",
        "seconds after `Time`",
        every=10,
    ),
    Style(
        "step glued to its number",
        lambda r: f"==> step{r.n:06d} :: loss {r.loss:.3f} :: {r.seconds:.3f} sec",
        lambda n: n,
        "seconds",
        "step after `step`, seconds before `sec`",
    ),
    Style(
        "thousands and words that change",
        lambda r: (
            f"[{'warm' if r.n < 3 else 'steady'}] Steps done: {r.n * 1000:,} of 50,000, "
            f"reward {10 - r.loss:.2f}, iteration time {r.seconds:.2f} seconds"
        ),
        lambda n: n * 1000,
        "seconds",
        "step after `done`, seconds after `time`",
        within=0.006,
    ),
    Style(
        "a docker prefix",
        lambda r: f"{r.when.isoformat()}Z stdout F step: {r.n} loss: {r.loss:.3f}",
        lambda n: n,
        "wall",
        "timestamps on the lines",
    ),
    Style(
        "syslog",
        lambda r: (
            f"{stamp(r, '%b %d %H:%M:%S')} node7 train[4711]: iter={r.n * 50} loss={r.loss:.3f}"
        ),
        lambda n: n * 50,
        "wall",
        "step after `iter`",
        within=1.0,
    ),
]


def read(lines: Sequence[str]) -> Run:
    numbered = list(enumerate(lines, 1))
    guessed = guess(numbered)
    assert guessed is not None
    log = Recording(guessed.reader.dialect)
    reader = guessed.reader(log)
    for number, line in numbered:
        reader.feed(number, line)
    reader.finish()
    return log.finish()


def text_of(style: Style) -> list[str]:
    lines = [style.line(row) for row in rows(steps_each=style.every)]
    return [style.header, *lines] if style.header else lines


@pytest.mark.parametrize("style", STYLES, ids=lambda style: style.name)
def test_steps_and_times_of_an_unknown_log_are_found(style: Style) -> None:
    run = read(text_of(style))
    assert list(run.step) == [style.step(row.n) for row in rows()]
    if "seconds" in style.tells:
        assert list(run.seconds) == pytest.approx(SECONDS, abs=style.within)
    if "wall" in style.tells:
        between = [after - before for before, after in pairwise(run.wall)]
        assert between == pytest.approx(SECONDS[1:], abs=style.within)
        assert all(isnan(seconds) for seconds in run.seconds)
    assert run.events == [event for event in run.events if event.kind == "epoch"]


@pytest.mark.parametrize("style", STYLES, ids=lambda style: style.name)
def test_the_user_is_told_what_was_taken_for_what(style: Style) -> None:
    run = read(text_of(style))
    (note,) = run.notes
    assert style.words in LANGUAGES["en"].unknown_note_guessed(note.facts)
    assert run.dialect.name == "guess"
    assert run.dialect.title == "unknown trainer (guessed)"
