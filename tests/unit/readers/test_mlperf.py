"""MLPerf: exact intervals, counted in samples."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from instride.steps.model import EventKind, Run
from instride.steps.readers.mlperf import MLPerf
from instride.steps.reading import read_with
from instride.steps.source import Source
from tests.unit.readers.drawing import read as read_as
from tests.unit.readers.reading import events

BEGIN_S = 1_700_000_000


def read(lines: list[str]) -> Run:
    return read_as(MLPerf, lines)


def entry(at_s: float, key: str, value: object = None, **metadata: Any) -> str:
    event_type = "INTERVAL_END" if key.endswith("stop") else "INTERVAL_START"
    fields = {
        "namespace": "",
        "time_ms": round((BEGIN_S + at_s) * 1000),
        "event_type": event_type,
        "key": key,
        "value": value,
        "metadata": {"file": "/code/callbacks.py", "lineno": 7, **metadata},
    }
    return f":::MLLOG {json.dumps(fields)}"


def set_up(at_s: float = 0.0) -> list[str]:
    return [
        entry(at_s, "init_start"),
        entry(at_s, "init_start"),
        entry(at_s + 5, "global_batch_size", 32),
        entry(at_s + 5, "init_stop"),
        entry(at_s + 5, "run_start"),
    ]


def block(at_s: float, first: int, last: int, seconds: float, eval_s: float) -> list[str]:
    """A block of steps and the evaluation after it."""
    end_s = at_s + seconds
    return [
        entry(at_s, "block_start", samples_count=first * 32),
        entry(end_s, "tracked_stats", {"throughput": 30.1}, step=last * 32),
        entry(end_s, "block_stop", samples_count=last * 32),
        entry(end_s, "eval_start", samples_count=last * 32),
        entry(end_s + eval_s, "eval_accuracy", 3.3, samples_count=last * 32 - 32),
        entry(end_s + eval_s, "eval_stop", samples_count=last * 32),
    ]


def test_a_step_is_a_batch_and_takes_its_part_of_the_block() -> None:
    lines = [*set_up(), *block(5, 0, 100, 50, 10), *block(65, 100, 200, 40, 10)]
    run = read([*lines, entry(115, "run_stop", status="success")])
    assert list(run.step) == [100, 200]
    assert list(run.seconds) == [0.5, 0.4]
    assert list(run.wall) == [BEGIN_S + 55, BEGIN_S + 105]
    assert events(run) == [
        (EventKind.START, 0, None),
        (EventKind.EVAL, 1, 10.0),
        (EventKind.EVAL, 2, 10.0),
        (EventKind.END, 2, None),
    ]


def test_losses_between_the_evaluations_are_records_too() -> None:
    lines = [
        *set_up(),
        entry(5, "block_start", samples_count=0),
        entry(6, "train_loss", 11.8, samples_count=0),
        entry(15, "train_loss", 9.1, samples_count=320),
        entry(25, "train_loss", 8.1, samples_count=640),
        entry(25, "block_stop", samples_count=640),
    ]
    run = read(lines)
    assert list(run.step) == [10, 20]
    assert list(run.seconds) == [1.0, 1.0]


def test_where_epochs_are_counted_an_epoch_is_a_step() -> None:
    lines = [entry(0, "run_start")]
    for epoch in (1, 2, 3):
        lines.append(entry(100 * epoch - 100, "epoch_start", epoch_num=epoch))
        lines.append(entry(100 * epoch - 10, "epoch_stop", epoch_num=epoch))
        lines.append(entry(100 * epoch - 10, "eval_start", epoch_num=epoch))
        lines.append(entry(100 * epoch, "eval_stop", epoch_num=epoch))
    run = read(lines)
    assert list(run.step) == [1, 2, 3]
    assert list(run.seconds) == [90.0, 90.0, 90.0]
    assert [event.seconds for event in run.events] == [10.0, 10.0, 10.0]


def test_without_a_batch_size_a_sample_is_a_step() -> None:
    assert list(read(block(5, 0, 100, 50, 10)).step) == [3200]


def test_a_resumed_run_counts_from_where_it_begins() -> None:
    run = read([*set_up(), *block(5, 1000, 1100, 50, 10)])
    assert (list(run.step), list(run.seconds)) == ([1100], [0.5])


def test_a_second_run_in_the_file_is_a_process_of_its_own() -> None:
    run = read([*set_up(), *block(5, 0, 100, 50, 10), *set_up(80), *block(85, 0, 100, 50, 10)])
    assert list(run.step) == [100, 100]
    starts = [event.at for event in run.events if event.kind is EventKind.START]
    assert starts == [0, 1]


def test_the_number_of_a_task_may_stand_before() -> None:
    run = read([f"0: {line}" for line in (*set_up(), *block(5, 0, 100, 50, 10))])
    assert list(run.step) == [100]


@pytest.mark.parametrize(
    "line",
    [
        entry(5, "eval_stop", samples_count=320),
        entry(5, "run_start"),
        entry(5, "tracked_stats", {"throughput": 30.1}, step=320),
        '{"key": "block_stop"}',
    ],
)
def test_other_entries_are_no_records(line: str) -> None:
    assert not MLPerf.sniff(line)
    assert not len(read([line]))


@pytest.mark.parametrize(
    "line",
    [
        entry(5, "block_stop", samples_count=320)[:-9],
        entry(5, "block_stop", samples_count=True),
        entry(5, "block_stop", samples_count="many"),
        entry(5, "block_stop", samples_count=10**30),
        entry(5, "block_stop", epoch_num=0.05),
        entry(5, "block_stop", float("nan"), samples_count=320),
        ':::MLLOG {"time_ms": 1e999, "key": "block_stop", "metadata": {"samples_count": 320}}',
        ':::MLLOG {"time_ms": 5, "key": "block_stop", "metadata": null}',
        ':::MLLOG {"time_ms": 5, "key": "block_stop"}',
        ":::MLLOG " + "[" * 60_000,
    ],
)
def test_mangled_entries_are_left_out(line: str) -> None:
    assert not len(read([line]))


def test_a_real_log_has_its_blocks_and_evaluations(cases: Path) -> None:
    run = read_with(MLPerf, [Source(str(cases / "mlperf-llama31-8b-mi355x.txt"))])
    assert list(run.step) == list(range(384, 5377, 384))
    assert list(run.seconds[1:]) == pytest.approx([1.044] * 13, rel=0.005)
    evals = [event.seconds or 0.0 for event in run.events if event.kind is EventKind.EVAL]
    assert len(evals) == 14
    assert sum(evals) == pytest.approx(138.5, abs=0.2)
