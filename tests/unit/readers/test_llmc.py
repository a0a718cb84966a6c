"""llm.c: the CUDA trainer and its PyTorch twin, whose clocks start at different places."""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan

import pytest

from instride.steps.model import EventKind, Pauses, Run
from instride.steps.readers.contract import Reader
from instride.steps.readers.llmc import LlmC
from instride.steps.readers.llmc_pytorch import LlmCPyTorch
from tests.unit.readers.reading import kinds, run_of


def read(lines: Iterable[str], reader_type: type[Reader] = LlmC) -> Run:
    return run_of(reader_type, lines)


def record(step: int, ms: float = 250.0, z: str = "+1.21z") -> str:
    return (
        f"step {step:4d}/18865 | loss 7.104512 ({z})| norm 1.2043 ({z})| lr 1.03e-05 "
        f"| {ms:.2f} ms | 45.1% bf16 MFU | 2097152 tok/s"
    )


def twin(step: int, ms: float = 250.0) -> str:
    return (
        f"step {step:4d}/18865 | train loss 7.104512 | norm 1.2043 | lr 1.03e-05 "
        f"| ({ms:.2f} ms | 2097152 tok/s)"
    )


def test_every_record_gives_its_step_and_seconds() -> None:
    run = read([record(1, 4500.0, "+nanz"), record(2), record(10000)])
    assert list(run.step) == [1, 2, 10000]
    assert list(run.seconds) == pytest.approx([4.5, 0.25, 0.25])


@pytest.mark.parametrize(
    "line",
    [
        "step    7/100 | train loss 7.104512 | norm 1.2043 | lr 1.03e-05 | 250.00 ms "
        "| 45.1% A100 fp16 MFU | 2097152 tok/s",
        "step    7/100 | loss 7.104512 (z +1.21)| norm 1.2043 | lr 1.03e-05 | 250.00 ms "
        "| -100.0% bf16 MFU | 2097152 tok/s",
        "step    7/100 | train loss 7.104512 | norm 1.2043 | lr 1.03e-05 | 250.00 ms "
        "| n/a bf16 MFU | 2097152 tok/s",
        "step    7/100: train loss 7.104512 norm 1.2043 lr 1.03e-05 (250.00 ms, 2097152 tok/s)",
        "step    7/100: train loss 7.104512 (acc 7.100000) (250.000000 ms, 2097152 tok/s)",
        "step 7/100: train loss nan (250.000000 ms, 2097152 tok/s)",
        "step 7: train loss 7.104512 (took 250.000000 ms)",
    ],
)
def test_older_versions_and_the_one_for_cpus_are_read(line: str) -> None:
    run = read([line])
    assert LlmC.sniff(line)
    assert not LlmCPyTorch.sniff(line)
    assert list(run.step) == [7]
    assert run.seconds[0] == pytest.approx(0.25)


@pytest.mark.parametrize(
    "line",
    [
        "s:7 trl:7.1045 lr:0.000010 norm:1.20",
        "step 7: train loss 4.5, val loss 4.4",
        "step    7 | loss: 6.0 | lr 2.6e-05 | norm: 1.2 | dt: 396.06ms | tok/sec: 132373.50",
        "step    7/18865 | loss 7.104512 (+1.21z)| norm 1.2043 (-0.12z)| lr 1.03e-05 | 245.1",
        "total average iteration time: 250.000000 ms",
        "iteration 7, loss: 4.3, time: 250.000ms, tok/s: 16384.00",
    ],
)
def test_other_dialects_and_truncated_lines_are_no_records(line: str) -> None:
    assert not LlmC.sniff(line)
    assert not LlmCPyTorch.sniff(line)
    assert len(read([line])) == len(read([line], LlmCPyTorch)) == 0


def test_evaluation_save_and_cleanup_stand_before_the_next_step() -> None:
    between = [
        "val loss 3.500000",
        "evaluating HellaSwag: 10/79",
        "HellaSwag: 2500/10000 = 0.250000",
        "generating:",
        "---",
        "The ms of a sample that goes on",
        "---",
        "Writing checkpoint at step 5000",
        "Deleting checkpoint at step 1000",
    ]
    run = read([record(5000), *between, record(5001)])
    assert kinds(run) == [(EventKind.EVAL, 1), (EventKind.SAVE, 1), (EventKind.CLEANUP, 1)]
    assert [event.step for event in run.events] == [None, 5000, 1000]
    assert all(event.seconds is None for event in run.events)


def test_a_resumed_run_shows_its_launch_load_and_end() -> None:
    launch = [
        "+-----------------------+----------------------------------------------------+",
        "| Parameter             | Value                                              |",
        "| resume                | 1                                                  |",
        "| weight init method    | intermediate checkpoint                            |",
    ]
    end = ["val loss 3.4", "total average iteration time: 250.000000 ms"]
    run = read([record(9), *launch, record(6), record(7), *end])
    assert kinds(run) == [
        (EventKind.START, 1),
        (EventKind.LOAD, 1),
        (EventKind.EVAL, 3),
        (EventKind.END, 3),
    ]
    assert list(run.step) == [9, 6, 7]


def test_the_trainer_for_cpus_launches_without_a_table() -> None:
    run = read(["train dataset num_batches: 1192", record(1)])
    assert kinds(run) == [(EventKind.START, 0)]


def test_a_timestamp_before_a_record_is_its_wall_clock() -> None:
    run = read([f"2025-03-01T10:00:00Z {record(1)}", f"[rank0]: {record(2)}"])
    assert run.wall[0] == 1740823200.0
    assert isnan(run.wall[1])


def test_the_twin_is_a_dialect_of_its_own_as_its_clock_holds_the_evaluation() -> None:
    lines = [twin(20), "val loss 3.5102", twin(21, 9000.0)]
    run = read(lines, LlmCPyTorch)
    assert run.dialect.pauses is Pauses.SAME
    assert LlmC.dialect.pauses is Pauses.NONE
    assert not LlmC.sniff(twin(20))
    assert list(run.step) == [20, 21]
    assert list(run.seconds) == pytest.approx([0.25, 9.0])
    assert kinds(run) == [(EventKind.EVAL, 1)]


def test_the_twin_marks_launch_sample_and_end() -> None:
    run = read(
        [
            "Running pytorch 2.7.0",
            twin(1),
            "---------------",
            "Once upon a time",
            "---------------",
            twin(2),
            "final 19 iters avg: 250.000ms",
        ],
        LlmCPyTorch,
    )
    assert kinds(run) == [(EventKind.START, 0), (EventKind.EVAL, 1), (EventKind.END, 2)]
