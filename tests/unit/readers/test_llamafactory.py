"""LLaMA-Factory: lines with the time since the start, from one process or several."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from instride.steps.model import EventKind, Run
from instride.steps.notes import Note
from instride.steps.readers.llamafactory import LlamaFactory
from instride.steps.reading import read_with
from instride.steps.source import Source
from tests.unit.readers.drawing import read as read_as
from tests.unit.readers.reading import events

HOUR_S = 3600


def read(lines: list[str]) -> Run:
    return read_as(LlamaFactory, lines)


def record(step: int, elapsed_s: int, total: int = 2000, **more: float | None) -> str:
    return written(step, elapsed_s, total, more or {"loss": 2.3475, "lr": 1.8e-06})


def written(step: int, elapsed_s: int, total: int, more: Mapping[str, float | None]) -> str:
    return json.dumps(
        {
            "current_steps": step,
            "total_steps": total,
            **more,
            "epoch": 0.0023,
            "percentage": 0.23,
            "elapsed_time": str(timedelta(seconds=elapsed_s)),
            "remaining_time": "9 days, 21:39:23",
        }
    )


def test_the_time_since_the_start_is_the_clock_over_days() -> None:
    run = read([record(5 * n, 30 * HOUR_S * n) for n in range(1, 9)])
    assert list(run.step) == list(range(5, 41, 5))
    assert list(run.wall) == [30.0 * HOUR_S * n for n in range(1, 9)]
    assert (run.clock_is_absolute, run.clock_resolution_s) == (False, 1.0)


def test_the_last_line_without_a_loss_is_a_step_too() -> None:
    run = read([record(5, 50), record(10, 100), record(12, 140, epoch=1.0)])
    assert list(run.step) == [5, 10, 12]


def test_the_last_line_of_a_step_that_was_logged_is_closing_work() -> None:
    run = read([record(5, 50), record(10, 100), record(10, 140, epoch=1.0)])
    assert list(run.step) == [5, 10]
    assert [(end.wall, end.line) for end in run.ends] == [(140.0, 3)]


def test_an_evaluation_took_the_time_since_the_line_before_it() -> None:
    lines = [record(5, 50), record(10, 100), record(10, 131, eval_loss=2.1), record(15, 181)]
    run = read(lines)
    assert list(run.step) == [5, 10, 15]
    assert list(run.wall) == [50.0, 100.0, 181.0]
    assert events(run) == [(EventKind.EVAL, 2, 31.0)]
    assert run.events[0].step == 10


def test_two_evaluations_at_one_step_add_up() -> None:
    evaluated = [record(10, 131, eval_loss=2.1), record(10, 140, eval_loss=2.2)]
    run = read([record(10, 100), *evaluated, record(20, 240)])
    assert events(run) == [(EventKind.EVAL, 1, 40.0)]


def test_an_evaluation_between_two_logged_steps_has_no_stated_time() -> None:
    run = read([record(10, 100), record(15, 190, eval_loss=2.1), record(20, 240)])
    assert list(run.step) == [10, 20]
    assert events(run) == [(EventKind.EVAL, 1, None)]


def test_null_is_no_evaluation() -> None:
    """Older versions write every key."""
    keys = {"loss": 2.1, "eval_loss": None, "predict_loss": None, "reward": None}
    run = read([written(5, 50, 2000, keys), written(10, 100, 2000, keys)])
    assert events(run) == []
    assert list(run.step) == [5, 10]


def test_a_resumed_run_starts_its_clock_anew() -> None:
    lines = [record(5 * n, 50 * n) for n in range(1, 21)]
    resumed = [record(80 + 5 * n, 50 * n + 7) for n in range(1, 8)]
    run = read(lines + resumed)
    assert list(run.step) == [*range(5, 101, 5), *range(85, 116, 5)]
    assert list(run.wall)[19:21] == [1000.0, 57.0]
    assert events(run) == [(EventKind.START, 20, None)]


def test_a_slower_run_that_starts_again_is_seen_by_its_steps() -> None:
    lines = [record(5 * n, 10 * n) for n in range(1, 11)]
    run = read(lines + [record(5 * n, 110 * n) for n in range(1, 4)])
    assert list(run.step) == [*range(5, 51, 5), 5, 10, 15]
    assert events(run) == [(EventKind.START, 10, None)]


def test_a_run_that_is_prolonged_goes_on() -> None:
    run = read([record(10 * n, 50 * n, 50) for n in range(1, 6)] + [record(60, 40, 100)])
    assert list(run.step) == [10, 20, 30, 40, 50, 60]


def test_of_two_jobs_that_write_at_the_same_time_the_first_is_read() -> None:
    lines = []
    for n in range(1, 41):
        lines += [record(5 * n, 50 * n), record(5 * n, 47 * n)]
    run = read(lines)
    assert list(run.step) == list(range(5, 201, 5))
    assert list(run.wall) == [50.0 * n for n in range(1, 41)]
    assert events(run) == []
    assert run.num_duplicates == 40
    assert run.notes == [Note("first-job")]


def test_progress_of_a_later_prediction_is_no_training() -> None:
    lines = [record(5 * n, 50 * n) for n in range(1, 5)]
    predicted = [record(5 * n, 3 * n, 30, accuracy=0.5) for n in range(1, 7)]
    assert list(read(lines + predicted).step) == [5, 10, 15, 20]


@pytest.mark.parametrize(
    "mangled",
    [
        '{"current_steps": 10, "total_steps": 2000, "loss": 2.1, "elapsed_time": "0:0',
        '_steps": 10, "total_steps": 2000, "loss": 2.1, "elapsed_time": "0:01:40"}',
        '{"current_steps": ' + "9" * 400 + ', "total_steps": 1, "elapsed_time": "0:01:40"}',
        '{"current_steps": 10, "total_steps": 2000, "loss": 2.1, "elapsed_time": ""}',
        "",
    ],
)
def test_mangled_lines_are_left_out(mangled: str) -> None:
    assert list(read([record(5, 50), mangled, record(15, 150)]).step) == [5, 15]


def test_a_loss_that_is_no_number_is_a_step_too() -> None:
    line = record(10, 100, loss=float("nan"))
    assert "NaN" in line
    assert LlamaFactory.sniff(line)
    assert list(read([record(5, 50), line]).step) == [5, 10]


def test_a_real_run_is_steady(cases: Path) -> None:
    run = read_with(LlamaFactory, [Source(str(cases / "llamafactory-steady.jsonl"))])
    assert len(run) == 436
    assert (run.step[0], run.step[-1]) == (5, 2178)
    steps_s = [(after - before) / 5 for before, after in pairwise(list(run.wall)[:-1])]
    assert 393.2 <= min(steps_s) <= max(steps_s) <= 394.0
    assert run.wall[-1] == 857_595.0
    assert events(run) == []
