"""modded-nanogpt: a running total that starts anew, and validations that wait for the GPU."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from math import isnan
from pathlib import Path
from statistics import median

import pytest

from instride.steps.model import EventKind, Run
from instride.steps.readers.modded_nanogpt import ModdedNanoGPT
from instride.steps.reading import read_with
from instride.steps.source import Source
from tests.unit.readers.reading import kinds, run_of


def read(lines: Iterable[str]) -> Run:
    return run_of(ModdedNanoGPT, lines)


def record(step: int, total_ms: float) -> str:
    return f"step:{step}/1750 train_time:{total_ms:.0f}ms step_avg:{total_ms / step:.2f}ms"


def validation(step: int, total_ms: float) -> str:
    return f"step:{step}/1750 val_loss:4.5000 train_time:{total_ms:.0f}ms step_avg:nanms"


def training(first: int, durations_ms: Sequence[float]) -> list[str]:
    totals = accumulate(durations_ms)
    return [record(step, total) for step, total in enumerate(totals, first)]


def test_the_time_of_a_step_is_the_difference_of_two_totals() -> None:
    run = read(training(1, [80, 40, 20, 30]))
    assert list(run.step) == [1, 2, 3, 4]
    assert list(run.seconds) == [0.08, 0.04, 0.02, 0.03]


def test_a_total_that_starts_anew_is_the_time_of_its_first_step() -> None:
    run = read([*training(1, [60000.0, *[200.0] * 9]), *training(11, [210.0, 205.0])])
    assert list(run.step) == list(range(1, 13))
    assert list(run.seconds) == pytest.approx([60.0, *[0.2] * 9, 0.21, 0.205])


def test_a_total_that_starts_anew_between_two_printed_steps_began_after_the_tenth() -> None:
    run = read([record(4, 60000), record(8, 60800), record(12, 420), record(16, 1260)])
    assert list(run.seconds) == pytest.approx([15.0, 0.2, 0.21, 0.21])


def test_steps_printed_apart_share_what_passed_between_them() -> None:
    run = read([record(100, 20000), record(110, 22000), record(115, 23500)])
    assert list(run.seconds) == pytest.approx([0.2, 0.2, 0.3])


def test_the_first_validation_is_where_the_total_begins() -> None:
    run = read([validation(0, 250), record(1, 60250), record(2, 61500)])
    assert list(run.step) == [1, 2]
    assert list(run.seconds) == [60.0, 1.25]
    assert kinds(run) == [(EventKind.EVAL, 0)]


def test_a_validation_right_after_the_total_began_anew_is_where_it_begins() -> None:
    run = read([record(9, 62000), record(10, 62200), validation(10, 3), record(11, 213)])
    assert list(run.step) == [9, 10, 11]
    assert list(run.seconds)[1:] == [0.2, 0.21]


def test_a_validation_is_no_step_and_its_wait_for_the_gpu_is_not_lost() -> None:
    run = read([record(124, 12400), record(125, 12500), validation(125, 12590), record(126, 12610)])
    assert list(run.step) == [124, 125, 126]
    assert list(run.seconds)[1:] == [0.1, 0.11]
    assert [(event.kind, event.at, event.step) for event in run.events] == [
        (EventKind.EVAL, 2, 125)
    ]


def test_a_log_of_validations_alone_has_their_averages() -> None:
    lines = [
        f"step:{step}/3350 val_loss:4.50000 train_time:{total}s step_avg:nanms"
        for step, total in [(0, "0.001"), (125, "22.501"), (250, "41.251"), (275, "45.001")]
    ]
    run = read(lines)
    assert all(ModdedNanoGPT.sniff(line) for line in lines)
    assert list(run.step) == [125, 250, 275]
    assert list(run.seconds) == pytest.approx([0.18, 0.15, 0.15])
    assert kinds(run) == [(EventKind.EVAL, at) for at in range(4)]


@pytest.mark.parametrize(
    "line",
    [
        "step:7/6200 train_loss:7.2500 train_time:1400ms step_avg:nanms",
        "step:7/6200 train_loss:nan train_time:1400ms step_avg:200.00ms",
        "step:7/4875 train_time:1.400s step_avg:200.00ms",
    ],
)
def test_other_versions_are_read(line: str) -> None:
    run = read([line])
    assert ModdedNanoGPT.sniff(line)
    assert list(run.step) == [7]
    assert run.seconds[0] == pytest.approx(0.2)


@pytest.mark.parametrize(
    "line",
    [
        'print0(f"step:{step+1}/{train_steps} train_time:{approx_time:.0f}ms", console=True)',
        "step:7/6200 train_loss:7.2500 train_time:1400",
        "step:7/6200 train_time:nanms step_avg:nanms",
        "step:7 - actor/loss:0.1 - timing_s/step:10.9",
        "step:99999999999999999999/6200 train_time:1400ms step_avg:nanms",
    ],
)
def test_source_code_and_broken_lines_are_no_records(line: str) -> None:
    assert not ModdedNanoGPT.sniff(line)
    assert len(read([line])) == 0


def test_a_second_run_in_the_log_begins_with_a_total_of_its_own() -> None:
    run = read([*training(1, [100.0] * 5), *training(1, [300.0, 200.0])])
    assert list(run.step) == [1, 2, 3, 4, 5, 1, 2]
    assert list(run.seconds)[5:] == pytest.approx([0.3, 0.2])


def test_a_step_repeated_by_another_rank_has_no_time() -> None:
    run = read([record(1, 100), record(2, 200), record(2, 200), record(3, 300)])
    assert isnan(run.seconds[2])
    assert run.seconds[3] == pytest.approx(0.1)


def test_launch_compilation_and_end_are_marked_but_not_their_source_code() -> None:
    run = read(
        [
            'print0(f"Running PyTorch {torch.version.__version__}")',
            'print0("Compiling model and warming up kernels (~7 minutes)", console=True)',
            "Running PyTorch 2.10.0+cu128 compiled for CUDA 12.8",
            "Compiling model and warming up kernels (~7 minutes on first execution)",
            *training(1, [90.0, 30.0]),
            "peak memory allocated: 30000 MiB reserved: 32000 MiB",
        ]
    )
    assert [(event.kind, event.line, event.at) for event in run.events] == [
        (EventKind.START, 3, 0),
        (EventKind.COMPILE, 4, 0),
        (EventKind.END, 7, 2),
    ]


def test_a_timestamp_before_a_record_is_its_wall_clock() -> None:
    run = read([f"2025-03-01T10:00:00Z {record(1, 90)}", f"[rank0]: {record(2, 120)}"])
    assert run.wall[0] == 1740823200.0
    assert isnan(run.wall[1])
    assert list(run.seconds) == [0.09, 0.03]


def test_a_real_log_keeps_its_compilation_and_its_comb(cases: Path) -> None:
    run = read_with(ModdedNanoGPT, [Source(str(cases / "modded-nanogpt-muon.txt"))])
    assert list(run.step) == list(range(1, 4217))
    assert run.seconds[0] == pytest.approx(74.416)
    assert run.seconds[1] == pytest.approx(1.264)
    assert run.seconds[10] == pytest.approx(0.214)
    usual = median(run.seconds)
    assert usual == pytest.approx(0.214)
    slow = [step for step, s in zip(run.step, run.seconds, strict=True) if s > 1.5 * usual][2:]
    assert len(slow) == 44
    assert slow[:6] == [189, 190, 378, 380, 567, 570]
    assert sum(run.seconds) == pytest.approx(77.391 + 910.139, abs=1e-3)
    evals = [event.step for event in run.events if event.kind is EventKind.EVAL]
    assert evals == list(range(0, 4126, 125))
