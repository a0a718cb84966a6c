"""Coqui's Trainer: a block of lines for every record."""

from __future__ import annotations

from math import isnan

import pytest

from instride.steps.model import EventKind, Run
from instride.steps.readers.coqui import Coqui
from tests.unit.readers.drawing import read as read_as
from tests.unit.readers.reading import events

DAY_S = 1_767_225_600.0


def read(lines: list[str]) -> Run:
    return read_as(Coqui, lines)


def block(step: int, seconds: float, data: float, at_s: int | None = None) -> list[str]:
    time = "" if at_s is None else f"TIME: 2026-01-01 00:{at_s // 60:02}:{at_s % 60:02} -- "
    return [
        "",
        f"   --> {time}STEP: {step % 400}/406 -- GLOBAL_STEP: {step}",
        "     | > loss: 0.20412  (0.21133)",
        "     | > current_lr: 5e-06 ",
        f"     | > step_time: {seconds:.4f}  (1.298712)",
        f"     | > loader_time: {data:.4f}  (0.011412)",
        "",
    ]


EVALUATION = [
    "   --> TRAIN PERFORMACE -- EPOCH TIME: 63.65 sec -- GLOBAL_STEP: 125",
    "     | > avg_step_time: 4.23914",
    " > EVALUATION ",
    "   --> STEP: 0",
    "     | > loss: 0.2",
    "  --> EVAL PERFORMANCE",
    "     | > avg_loader_time: 0.02811 (+0.00171)",
    "     | > avg_loss: 0.2011 (-0.0312)",
]


def test_a_step_is_its_own_time_and_the_wait_for_its_batch() -> None:
    run = read([*block(100, 1.25, 0.25), *block(125, 1.5, 0.0)])
    assert list(run.step) == [100, 125]
    assert list(run.seconds) == [1.5, 1.5]
    assert list(run.data) == [0.25, 0.0]
    assert list(run.line) == [2, 9]
    assert not run.wall


def test_newer_versions_tell_the_time_in_whole_seconds() -> None:
    run = read([*block(100, 1.25, 0.25, at_s=61), *block(125, 1.5, 0.0, at_s=99)])
    assert list(run.wall) == [DAY_S + 61, DAY_S + 99]
    assert run.clock_resolution_s == 1.0


def test_evaluations_and_saves_stand_between_the_blocks_around_them() -> None:
    lines = [
        *block(100, 1.25, 0.01),
        " > CHECKPOINT : /runs/checkpoint_100.pth",
        *block(125, 1.25, 0.01),
        *EVALUATION,
        " > BEST MODEL : /runs/best_model_125.pth",
        " > EPOCH: 1/1000",
        " --> /runs",
        *block(150, 1.25, 0.01),
    ]
    run = read(lines)
    assert list(run.step) == [100, 125, 150]
    assert list(run.seconds) == pytest.approx([1.26] * 3)
    assert events(run) == [
        (EventKind.SAVE, 1, None),
        (EventKind.EVAL, 2, None),
        (EventKind.SAVE, 2, None),
        (EventKind.EPOCH, 2, None),
    ]


def test_the_beginning_of_an_epoch_has_a_time() -> None:
    lines = [" > TRAINING (2026-01-01 00:00:05) ", *block(0, 5.0, 3.0, at_s=13)]
    first = read(lines).first_clock
    assert first is not None
    assert first.wall == DAY_S + 5


def test_a_resumed_training_is_a_new_process() -> None:
    lines = [
        *block(100, 1.25, 0.01),
        " > Training Environment:",
        " > Restoring from checkpoint_75.pth ...",
        " > Model restored from step 75",
        *block(100, 1.25, 0.01),
    ]
    run = read(lines)
    assert list(run.step) == [100, 100]
    assert events(run) == [(EventKind.START, 1, None), (EventKind.LOAD, 1, None)]


def test_a_warning_inside_a_block_does_not_end_it() -> None:
    lines = block(100, 1.25, 0.25)
    lines.insert(3, "/trainer.py:9: UserWarning: cast(dtype) -> float64 is slow")
    assert list(read(lines).seconds) == [1.5]


def test_a_block_without_times_is_a_record_without_duration() -> None:
    run = read([*block(100, 1.25, 0.25)[:3], *block(125, 1.25, 0.25)])
    assert isnan(run.seconds[0])
    assert list(run.seconds[1:]) == [1.5]


def test_times_of_the_last_epoch_do_not_leak_into_the_next_block() -> None:
    stray = ["     | > step_time: 99.0", "     | > loader_time: 99.0"]
    assert list(read([*stray, *block(100, 1.25, 0.25)]).seconds) == [1.5]


@pytest.mark.parametrize(
    "line",
    [
        EVALUATION[0],
        "   --> STEP: 3",
        "   --> STEP: 3/406 -- GLOBAL_STEP: ",
        f"   --> STEP: 3/406 -- GLOBAL_STEP: {'x' * 400}",
        "STEP: 1/1 -- GLOBAL_STEP:" * 2000,
    ],
)
def test_other_and_mangled_lines_are_no_records(line: str) -> None:
    assert not Coqui.sniff(line)
    assert not len(read([line]))
