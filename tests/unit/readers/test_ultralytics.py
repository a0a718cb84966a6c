"""Ultralytics' results.csv: an epoch is a step, its time is that since the start."""

from __future__ import annotations

from itertools import accumulate
from math import isnan

import pytest

from instride.explain.ledger import build
from instride.steps.model import EventKind, Run
from instride.steps.readers.ultralytics import Ultralytics
from instride.steps.reading import detect
from tests.unit.readers.drawing import read as read_as
from tests.unit.readers.reading import events

HEADER = "epoch,time,train/box_loss,train/cls_loss,metrics/mAP50(B),val/box_loss,lr/pg0"


def read(lines: list[str]) -> Run:
    return read_as(Ultralytics, lines)


def rows(seconds: list[float], first: int = 1) -> list[str]:
    """The rows of epochs that took so long; numbers have six digits, as Ultralytics prints them."""
    return [
        f"{epoch},{elapsed_s:.6g},1.20412,2.75144,0.51203,1.31022,0.00332"
        for epoch, elapsed_s in enumerate(accumulate(seconds), first)
    ]


def test_every_row_is_an_epoch_with_the_time_since_the_start() -> None:
    run = read([HEADER, *rows([25.5, 20.25, 20.5])])
    assert list(run.step) == [1, 2, 3]
    assert list(run.wall) == [25.5, 45.75, 66.25]
    assert all(isnan(seconds) for seconds in run.seconds)
    assert not run.clock_is_absolute


def test_older_versions_pad_the_columns() -> None:
    padded = [",".join(f"{cell:>23}" for cell in line.split(",")) for line in (HEADER, *rows([9]))]
    assert Ultralytics.sniff(padded[0])
    run = read(padded)
    assert (list(run.step), list(run.wall)) == ([1], [9.0])


def test_a_log_is_known_by_its_first_line() -> None:
    assert detect(enumerate([HEADER, *rows([20.0] * 5)], 1)) is Ultralytics


def test_a_slow_epoch_is_told_by_the_differences() -> None:
    ledger = build(read([HEADER, *rows([20.0] * 10 + [80.0] + [20.0] * 10)]))
    assert ledger.baseline_s == pytest.approx(20.0)
    assert [(span.first_step, round(span.extra_s)) for span in ledger.spans] == [(11, 60)]


def test_a_resumed_training_counts_its_time_anew_and_loses_nothing() -> None:
    run = read([HEADER, *rows([20.0] * 6), *rows([22.0] + [20.0] * 5, first=7)])
    restarts = build(run).restarts
    assert [(restart.resumed_at, restart.lost_steps) for restart in restarts] == [(7, 0)]


def test_a_second_table_is_another_process() -> None:
    run = read([HEADER, *rows([20.0, 20.0]), HEADER, *rows([20.0])])
    assert events(run) == [(EventKind.START, 2, None)]


def test_a_long_training_has_times_with_an_exponent() -> None:
    run = read([HEADER, f"500,{1234567.0:.6g},1.2,0.5", "501,nan,1.2,0.5"])
    assert (list(run.step), list(run.wall)) == ([500], [1_234_570.0])


@pytest.mark.parametrize(
    "line",
    [
        rows([20.0])[0],
        "epoch,train/box_loss,train/cls_loss",
        "epoch,time",
        "epoch, time, loss",
        "       epoch,      train/box_loss,      train/obj_loss",
        "," * 60_000,
    ],
)
def test_rows_without_their_header_and_other_tables_are_no_records(line: str) -> None:
    assert not Ultralytics.sniff(line)
    assert not len(read([line, line]))


def test_mangled_rows_are_left_out() -> None:
    run = read([HEADER, "1,20", "x,20.0,1", "1,1e9999,1", f"{'9' * 400},20.0,1", "2,40.5,1.0"])
    assert (list(run.step), list(run.wall)) == ([2], [40.5])
