"""build-nanogpt: every step, with validation, HellaSwag and samples inside its `dt`."""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan
from pathlib import Path
from statistics import median

import pytest

from instride.steps.model import EventKind, Run
from instride.steps.readers.build_nanogpt import BuildNanoGPT
from instride.steps.reading import read_with
from instride.steps.source import Source
from tests.unit.readers.reading import kinds, run_of


def read(lines: Iterable[str]) -> Run:
    return run_of(BuildNanoGPT, lines)


def record(step: int, ms: float = 400.0) -> str:
    return (
        f"step {step:5d} | loss: 6.012345 | lr 2.6014e-05 | norm: 1.2031 "
        f"| dt: {ms:.2f}ms | tok/sec: {2**19 / ms * 1e3:.2f}"
    )


def test_every_record_gives_its_step_and_seconds() -> None:
    run = read([record(0, 9000.0), record(1), record(2)])
    assert list(run.step) == [0, 1, 2]
    assert list(run.seconds) == pytest.approx([9.0, 0.4, 0.4])
    assert all(isnan(wall) for wall in run.wall)


@pytest.mark.parametrize(
    "line",
    [
        "step 7, loss: 9.1, dt: 250.00ms, tok/sec: 16384.00",
        "step    7 | loss: 9.100000 | dt: 250.00ms | tok/sec: 16384.00",
        "step    7 | loss: 9.100000 | norm: 2.0000 | dt: 250.00ms | tok/sec: 16384.00",
        "step    7| loss: 9.100000 | lr: 6.0000e-05 | norm: 2.5000  | dt: 250.00ms | tok/sec: 1",
        "step: 7 | train loss: 9.1000 | lr: 6e-05 |  norm: 2.0 | dt: 250.00ms | tok/sec: 1.0",
        "step 7/19073 | loss: nan | aux: 0.01 | lr: 6e-05 | norm: nan | dt: 0.25s | tok/sec: 1",
    ],
)
def test_early_versions_and_forks_are_read(line: str) -> None:
    run = read([line])
    assert BuildNanoGPT.sniff(line)
    assert list(run.step) == [7]
    assert run.seconds[0] == pytest.approx(0.25)


@pytest.mark.parametrize(
    "line",
    [
        "step 00007/21400 (0.03%) | loss: 6.1 | lrm: 1.00 | dt: 476.12ms | tok/sec: 1,101,168",
        "step 00007 (0.03%) | loss: 6.1 | lrm: 1.00 | dt: 476.12ms | tok/sec: 1,101,168",
        "step    7/10 | loss 7.1 (+1.2z)| norm 1.2 (-0.1z)| lr 1e-05 | 245.10 ms | 45.1% bf16 MFU",
        "Step 7 | loss:1.07 lr:2e-05 tokens_per_second_per_gpu:5123.1",
        "step    7 | loss: 6.012345 | lr 2.6014e-05 | norm: 1.2031 | dt: 400.0",
        "step    7 | loss: 6.012345 | lr 2.6014e-05 | norm: 1.2031 | dt: ms | tok/sec: 1",
        "7 train 6.012345",
    ],
)
def test_other_dialects_and_truncated_lines_are_no_records(line: str) -> None:
    assert not BuildNanoGPT.sniff(line)
    assert len(read([line])) == 0


def test_all_lines_of_an_evaluation_are_one_event_before_the_step_that_holds_it() -> None:
    evaluation = [
        "validation loss: 5.2500",
        "HellaSwag accuracy: 2500/10000=0.2500",
        "Own Quiz accuracy: 30/120=0.2500",
        "rank 2 sample 0: Once there was \u4e00\u65e5 \u00fcber",
        "| dt: and other words of a sample that goes on",
        "rank 0 sample 3: Once there was a loop",
    ]
    run = read([record(249), *evaluation, record(250, 8000.0), record(251)])
    assert kinds(run) == [(EventKind.EVAL, 1)]
    assert run.seconds[1] == pytest.approx(8.0)


def test_words_like_sample_or_accuracy_alone_are_no_evaluation() -> None:
    assert not read(["a sample of what is to come", "the accuracy: unknown"]).events


def test_a_launch_is_announced_by_the_batch_size() -> None:
    banner = ["total desired batch size: 524288", "=> calculated gradient accumulation steps: 8"]
    run = read([*banner, record(0), record(1), *banner, record(0)])
    assert kinds(run) == [(EventKind.START, 0), (EventKind.START, 2)]
    assert list(run.step) == [0, 1, 0]


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("saving checkpoint to log/model_05000.pt", EventKind.SAVE),
        ("Checkpoint saved to log/model_05000.pt", EventKind.SAVE),
        ("loading checkpoint log/model_05000.pt", EventKind.LOAD),
        ("Resuming from checkpoint at step 5000", EventKind.LOAD),
    ],
)
def test_forks_that_tell_of_checkpoints_are_understood(line: str, kind: EventKind) -> None:
    assert kinds(read([record(1), line, record(2)])) == [(kind, 1)]


def test_a_timestamp_before_a_record_is_its_wall_clock() -> None:
    run = read([f"2025-03-01T10:00:00Z {record(1)}", f"[rank0]: {record(2)}"])
    assert run.wall[0] == 1740823200.0
    assert isnan(run.wall[1])
    assert list(run.step) == [1, 2]


def test_a_real_log_has_its_five_evaluations(cases: Path) -> None:
    run = read_with(BuildNanoGPT, [Source(str(cases / "build-nanogpt-arabic.txt"))])
    assert list(run.step) == list(range(2318))
    assert median(run.seconds) == pytest.approx(4.1969, abs=1e-4)
    evals = [run.step[event.at] for event in run.events if event.kind is EventKind.EVAL]
    assert evals == [0, 500, 1000, 1500, 2000]
    excess = sum(run.seconds[step] - median(run.seconds) for step in evals)
    assert excess == pytest.approx(384.9, abs=0.1)
