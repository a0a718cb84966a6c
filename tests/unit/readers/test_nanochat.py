"""nanochat: a clock that is stopped for everything but training."""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan

import pytest

from instride.steps.model import EventKind, Run
from instride.steps.readers.nanochat import NanoChat
from tests.unit.readers.reading import kinds, run_of


def read(lines: Iterable[str]) -> Run:
    return run_of(NanoChat, lines)


def record(step: int, ms: float = 476.12) -> str:
    return (
        f"step {step:05d}/21400 ({step / 214:.2f}%) | loss: 6.123456 | lrm: 1.00 "
        f"| dt: {ms:.2f}ms | tok/sec: {int(2**19 / ms * 1e3):,} | bf16_mfu: 48.60 "
        f"| epoch: 1 pq: 0 rg: 3 | total time: {step * ms / 6e4:.2f}m | eta: 169.6m"
    )


def task(label: str, seconds: float) -> str:
    return (
        f"Evaluating: {label} (10-shot, type: multiple_choice)... "
        f"accuracy: 0.2500 | centered: 0.0000 | time: {seconds:.2f}s"
    )


def test_every_record_gives_its_step_and_seconds() -> None:
    run = read([record(0, 9500.0), record(1), record(2)])
    assert list(run.step) == [0, 1, 2]
    assert list(run.seconds) == pytest.approx([9.5, 0.47612, 0.47612])


@pytest.mark.parametrize(
    "line",
    [
        "step 00007 (0.03%) | loss: 6.1 | lrm: 1.00 | dt: 250.00ms | tok/sec: 2,097 | mfu: 4.00 "
        "| total time: 0.00m",
        "step 00007 (100.0%)  | loss: 6.1 | lrm: 0.00 | dt: 250ms | tok/sec: 2,097 | mfu: 39.8% "
        "| epoch: 0 | remaining: 0s",
        "step 00007/00100 (7.00%) | loss: nan | grad norm: 1.0000 | lrm: 1.00 | dt: 250.00ms "
        "| tok/sec: 2,097 | mfu: 4.00 | total time: 0.00m",
        "step 00007/00100 (7.00%) | loss: 6.1 | lrm(adam)=1.00, lrm(matrix)=1.00 | dt: 250.00ms "
        "| tok/sec: 2,097 | mfu: 4.00 | epoch: 1 | total time: 0.00m",
        "step 00007/00100 (7.00%) | loss: 6.1 | grad_norm: 1.2 | lrm: 1.00 | dt: 250.00ms "
        "| tok/sec (micro): 2,097 | tok/sec (global): 4,194 | mfu: 4.00 | total time: 0.00m",
    ],
)
def test_other_versions_and_forks_are_read(line: str) -> None:
    run = read([line])
    assert NanoChat.sniff(line)
    assert list(run.step) == [7]
    assert run.seconds[0] == pytest.approx(0.25)


@pytest.mark.parametrize(
    "line",
    [
        "step     7 | loss: 6.0 | lr 2.6e-05 | norm: 1.2 | dt: 396.06ms | tok/sec: 132373.50",
        "Step 00007/00700 | Training loss: 1.234567| lrm: 1.000000| num_tokens: 12,345",
        "Step 00250 | Validation bpb: 1.2345",
        "step 00007/21400 (0.03%) | loss: 6.123456 | lrm: 1.00 | dt: 476.1",
        "step 00007/21400 (0.03%) | loss: 6.123456 | lrm: 1.00",
    ],
)
def test_other_dialects_and_truncated_lines_are_no_records(line: str) -> None:
    assert not NanoChat.sniff(line)
    assert len(read([line])) == 0


def test_evaluations_name_their_step_and_those_of_one_step_are_one_event() -> None:
    between = ["Step 00250 | Validation bpb: 1.2345", "Step 00250 | CORE metric: 0.0123"]
    run = read([record(249), *between, record(250)])
    assert [(e.kind, e.at, e.step, e.seconds) for e in run.events] == [
        (EventKind.EVAL, 1, 250, None)
    ]


def test_the_core_metric_costs_the_sum_of_its_tasks() -> None:
    first = [task("hellaswag_zeroshot", 12.25), task("jeopardy", 3.5)]
    second = [task("hellaswag_zeroshot", 10.0)]
    run = read(
        [
            "Step 02000 | Validation bpb: 1.2345",
            *first,
            "Step 02000 | CORE metric: 0.0123",
            record(2000),
            *second,
            "Step 04000 | CORE metric: 0.0456",
            record(4000),
        ]
    )
    assert [(event.step, event.seconds) for event in run.events] == [(2000, 15.75), (4000, 10.0)]


def test_tasks_of_a_separate_evaluation_are_not_charged_to_the_next_training() -> None:
    run = read(
        [
            task("jeopardy", 99.0),
            "Autodetected device type: cuda",
            task("jeopardy", 5.0),
            "Step 02000 | CORE metric: 0.0123",
            record(2000),
        ]
    )
    assert [event.seconds for event in run.events] == [None, 5.0]


def test_a_save_has_the_time_of_its_last_file() -> None:
    logger = "nanochat.checkpoint_manager - INFO"
    run = read(
        [
            record(999),
            f"2025-03-01 10:00:00,250 - {logger} - Saved model parameters to: d20/model_001000.pt",
            f"2025-03-01 10:00:00,300 - {logger} - Saved metadata to: d20/meta_001000.json",
            f"2025-03-01 10:00:04,000 - {logger} - Saved optimizer state to: d20/optim_rank0.pt",
        ]
    )
    assert [(event.kind, event.at, event.wall) for event in run.events] == [
        (EventKind.SAVE, 1, 1740823200.25)
    ]
    assert [end.wall for end in run.ends] == [1740823204.0]


def test_stages_of_one_log_are_runs_of_their_own() -> None:
    def launch(name: str) -> list[str]:
        return ["Autodetected device type: cuda", f"{name} total => gradient accumulation steps: 1"]

    run = read(
        [
            *launch("base"),
            record(0),
            record(1),
            "Total training time: 180.01m",
            *launch("mid"),
            record(0),
        ]
    )
    assert kinds(run) == [(EventKind.START, 0), (EventKind.END, 2), (EventKind.START, 2)]


def test_a_resumed_run_has_a_launch_and_a_load() -> None:
    run = read(
        [
            record(5),
            "Resuming optimization from step 4",
            "Total batch size 524,288 => gradient accumulation steps: 1",
            record(4),
        ]
    )
    assert kinds(run) == [(EventKind.START, 1), (EventKind.LOAD, 1)]
    assert list(run.step) == [5, 4]


def test_a_timestamp_before_a_record_is_its_wall_clock() -> None:
    run = read([f"2025-03-01T10:00:00Z {record(1)}", f"[rank0]: {record(2)}"])
    assert run.wall[0] == 1740823200.0
    assert isnan(run.wall[1])
