"""timm: every k-th update alone, counted on through the epochs."""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan

import pytest

from instride.steps.model import EventKind, Run
from instride.steps.readers.timm import Timm
from tests.unit.readers.reading import run_of


def read(lines: Iterable[str]) -> Run:
    return run_of(Timm, lines)


def record(epoch: int, update: int, seconds: str = "0.512", data: str = "0.010") -> str:
    return (
        f"Train: {epoch} [{update:>4}/390 ({100 * (update + 1) / 390:>3.0f}%)]  "
        f"Loss: 3.21 (3.40)  Time: {seconds}s,  250.10/s  (0.530s,  241.51/s)  "
        f"LR: 1.000e-03  Data: {data} (0.020)"
    )


def test_updates_count_on_through_the_epochs() -> None:
    run = read(record(epoch, update) for epoch in (0, 1) for update in (0, 50, 389))
    assert list(run.step) == [0, 50, 389, 390, 440, 779]
    assert list(run.seconds) == [0.512] * 6
    assert list(run.data) == [0.01] * 6


def test_the_time_is_that_of_the_update_and_not_the_average() -> None:
    assert read([record(0, 50, "4.321")]).seconds[0] == pytest.approx(4.321)


@pytest.mark.parametrize(
    "line",
    [
        "Train: 0 [  50/390 ( 13%)]  Loss:  6.931 ( 6.95)  Time: 0.512s,  250.10/s  "
        "(0.530s,  241.51/s)  LR: 1.000e-06  Data: 0.010 (0.020)",
        "Train: 0 [  50/390 ( 13%)]  Updates: 50  Loss: 6.93 (6.95)  Time: 0.512s,  250.10/s  "
        "(0.530s,  241.51/s)  LR: 1.000e-06  Data: 0.010 (0.020)",
    ],
)
def test_older_and_newer_versions_are_read(line: str) -> None:
    run = read([line])
    assert Timm.sniff(line)
    assert (run.step[0], run.seconds[0], run.data[0]) == (50, 0.512, 0.01)


def test_a_timestamp_in_front_is_the_wall_clock() -> None:
    run = read(f"2026-01-02 03:04:{i:02} {record(0, i)}" for i in range(3))
    assert run.wall[2] - run.wall[0] == 2


def test_evaluations_saves_launches_and_the_end_are_events() -> None:
    run = read(
        [
            "Training with a single process on 1 device (cuda:0).",
            "Restoring model state from checkpoint...",
            record(3, 0),
            record(3, 389),
            "Test: [   0/97]  Time: 2.310 (2.310)  Loss:  1.2000 (1.2000)  Acc@1: 70.1 ( 70.1)",
            "Test (EMA): [   0/97]  Time: 2.310 (2.310)  Loss:  1.2000 (1.2000)",
            "Current checkpoints:",
            " ('./output/checkpoint-3.pth.tar', 71.2)",
            record(4, 0),
            "*** Best metric: 71.2 (epoch 3)",
        ]
    )
    assert [(event.kind, event.at) for event in run.events] == [
        (EventKind.START, 0),
        (EventKind.LOAD, 0),
        (EventKind.EVAL, 2),
        (EventKind.SAVE, 2),
        (EventKind.END, 3),
    ]


def test_damaged_records_are_not_read() -> None:
    whole = record(0, 50)
    assert len(read([whole[:60], whole.replace("Time: 0.512s", "Time: 0.5.12s")])) == 0
    assert list(read([whole[:40] + record(0, 100)]).step) == [100]


def test_a_time_that_is_no_number_is_unknown() -> None:
    assert isnan(read([record(0, 50, "nan")]).seconds[0])


def test_other_lines_that_begin_alike_are_not_taken() -> None:
    assert not Timm.sniff("Train: [0/300][0/1251]\teta 1:02:03 lr 0.000001\ttime 9.5 (9.5)")
    assert not Timm.sniff("Train: 1/3 ( 33%) [  49/323 ( 15%)]  Loss: 36.77 (81.7)")
