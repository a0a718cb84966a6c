"""LitGPT and its ancestors: one micro-batch of a step is timed, pauses are in no record."""

from __future__ import annotations

from math import isnan

import pytest

from instride.steps.model import EventKind, Run
from instride.steps.notes import Note
from instride.steps.readers.litgpt import LitGPT
from instride.steps.readers.nanogpt import NanoGPT
from tests.unit.readers.drawing import read as read_as
from tests.unit.readers.reading import events


def read(lines: list[str]) -> Run:
    return read_as(LitGPT, lines)


def record(iteration: int, ms: float, a_step: int = 4, more: str = " (step)") -> str:
    return (
        f"Epoch 1 | iter {iteration} step {iteration // a_step} | loss train: 2.113, val: n/a | "
        f"iter time: {ms:.2f} ms{more} remaining time: 1:02:03"
    )


def test_a_record_has_the_iteration_and_its_time() -> None:
    run = read([record(n, 310.22) for n in range(4, 41, 4)])
    assert list(run.step) == list(range(4, 41, 4))
    assert list(run.seconds) == pytest.approx([0.31022] * 10)
    assert len(run.wall) == 0
    assert run.notes == [Note("micro-batches")]


def test_steps_of_one_micro_batch_need_no_note() -> None:
    run = read([record(n, 310.22, a_step=1) for n in range(1, 11)])
    assert run.notes == []


@pytest.mark.parametrize(
    "line",
    [
        "Epoch 1 | iter 128 step 2 | loss train: 2.113, val: 2.500 | iter time: 310.22 ms (step)",
        "Epoch 2 | iter 128 step 2 | loss train: nan, val: n/a | iter time: 310.22 ms",
        "iter 128 step 32: loss 2.1133, iter time: 310.22ms (optimizer.step)",
        "iter 128 step 32: loss 2.1133, iter time: 310.22ms (optimizer.step) remaining time: "
        "12.34 hours. or 0.51 days. ",
    ],
)
def test_all_versions_are_read(line: str) -> None:
    assert LitGPT.sniff(line)
    run = read([line])
    assert list(run.step) == [128]
    assert list(run.seconds) == pytest.approx([0.31022])


def test_a_validation_states_how_long_it_took() -> None:
    lines = [record(4, 310), "Validating ...", "iter 4: val loss 2.5010, val time: 41200.50 ms"]
    run = read([*lines, record(8, 310)])
    assert events(run) == [(EventKind.EVAL, 1, 41.2005)]
    assert run.events[0].step == 4
    run = read([record(4, 310), "step 4: val loss 2.5010, val time: 41200.50ms", record(8, 310)])
    assert events(run) == [(EventKind.EVAL, 1, 41.2005)]


@pytest.mark.parametrize(
    "line",
    [
        "Saving checkpoint to 'out/step-00000002/lit_model.pth'",
        "Saving LoRA weights to 'out/step-000002/lit_model.pth.lora'",
        "Saving adapter weights to 'out/lit_model.pth.adapter'",
    ],
)
def test_saves_are_marked(line: str) -> None:
    assert events(read([record(4, 310), line, record(8, 310)])) == [(EventKind.SAVE, 1, None)]


def test_a_resumed_run_is_a_launch_and_a_load() -> None:
    lines = [
        "Time to instantiate model: 0.12 seconds.",
        record(4, 310),
        record(8, 310),
        "Time to instantiate model: 0.12 seconds.",
        "Resuming training from out/step-00000001/lit_model.pth",
        record(8, 310),
    ]
    assert events(read(lines)) == [
        (EventKind.START, 0, None),
        (EventKind.START, 2, None),
        (EventKind.LOAD, 2, None),
    ]


def test_a_time_stamp_in_front_is_the_clock() -> None:
    run = read([f"2025-01-02T03:04:{n:02}Z [rank0]: {record(n, 310)}" for n in (10, 20)])
    assert run.wall[1] - run.wall[0] == 10.0


def test_times_that_are_none_are_unknown() -> None:
    run = read([record(4, float("nan")), record(8, float("inf")), record(12, 310)])
    assert [isnan(seconds) for seconds in run.seconds] == [True, True, False]


def test_a_record_cut_off_by_the_next_is_not_mixed_with_it() -> None:
    run = read([record(4, 111.0)[:40] + record(8, 310)])
    assert list(run.step) == [8]


def test_nanogpt_is_another_dialect() -> None:
    nanogpt = "iter 100: loss 2.3100, time 135.20ms, mfu 12.30%"
    assert not LitGPT.sniff(nanogpt)
    assert not NanoGPT.sniff(record(4, 310))
    assert not NanoGPT.sniff("iter 128 step 32: loss 2.1133, iter time: 310.22ms")
