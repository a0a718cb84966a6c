"""Weights & Biases histories: lines of JSON and tables."""

from __future__ import annotations

import json

import pytest

from instride.steps.model import EventKind, Run
from instride.steps.readers.wandb import Wandb
from instride.steps.reading import detect
from tests.unit.readers.drawing import read as read_as
from tests.unit.readers.reading import events

BEGIN = 1_700_000_000.0
COLUMNS = ("_step", "_runtime", "_timestamp", "train/loss", "eval/loss", "eval/runtime")


def read(lines: list[str]) -> Run:
    return read_as(Wandb, lines)


def row(step: int, runtime: float, **more: object) -> dict[str, object]:
    clock = {"_step": step, "_runtime": runtime, "_timestamp": BEGIN + runtime}
    return {**clock, "train/loss": 2.1, **more}


def as_json(rows: list[dict[str, object]]) -> list[str]:
    return [json.dumps(each) for each in rows]


def as_table(rows: list[dict[str, object]], columns: tuple[str, ...] = COLUMNS) -> list[str]:
    lines = [",".join(f'"{name}"' for name in columns)]
    return lines + [",".join(str(each.get(name, "")) for name in columns) for each in rows]


@pytest.mark.parametrize("write", [as_json, as_table])
def test_a_row_is_a_record_with_its_time(write: object) -> None:
    assert callable(write)
    lines = write([row(10 * n, 5.5 * n) for n in range(20)])
    run = read(lines)
    assert list(run.step) == list(range(0, 200, 10))
    assert list(run.wall) == [BEGIN + 5.5 * n for n in range(20)]
    assert run.clock_is_absolute is True
    assert detect(enumerate(lines, 1)) is Wandb


def test_without_timestamps_the_runtime_is_the_clock() -> None:
    rows: list[dict[str, object]] = [
        {"_step": n, "_runtime": 5.5 * n, "loss": 2.0} for n in range(20)
    ]
    run = read(as_json(rows))
    assert list(run.wall) == [5.5 * n for n in range(20)]
    assert run.clock_is_absolute is False


@pytest.mark.parametrize("name", ["train/global_step", "trainer/global_step", "global_step"])
def test_the_step_of_the_trainer_is_better_than_the_count_of_rows(name: str) -> None:
    run = read(as_json([row(n, 5.5 * n, **{name: 10 * n}) for n in range(20)]))
    assert list(run.step) == list(range(0, 200, 10))


@pytest.mark.parametrize("write", [as_json, as_table])
def test_an_evaluation_with_a_row_of_its_own_states_its_time(write: object) -> None:
    assert callable(write)
    evaluated = {"_step": 20, "_runtime": 51.0, "_timestamp": BEGIN + 51, "eval/loss": 1.9}
    rows = [row(10, 5.5), row(20, 11.0), {**evaluated, "eval/runtime": 39.5}, row(30, 56.5)]
    run = read(write(rows))
    assert list(run.step) == [10, 20, 30]
    assert events(run) == [(EventKind.EVAL, 2, 39.5)]


def test_an_evaluation_in_a_row_with_a_new_step_comes_before_it() -> None:
    run = read(as_json([row(10, 5.5), row(20, 50.0, **{"val/loss": 1.9}), row(30, 55.5)]))
    assert list(run.step) == [10, 20, 30]
    assert events(run) == [(EventKind.EVAL, 1, None)]


def test_evaluations_in_every_row_are_not_worth_an_event() -> None:
    run = read(as_json([row(10 * n, 5.5 * n, **{"val/loss": 1.9}) for n in range(20)]))
    assert events(run) == []


def test_values_that_are_no_numbers_are_taken_as_unknown() -> None:
    rows = [row(10, 5.5), row(20, 11.0, loss=float("nan")), {"_step": 30, "_timestamp": "x"}]
    run = read(as_json(rows))
    assert list(run.step) == [10, 20, 30]
    assert run.wall[2] != run.wall[2]


@pytest.mark.parametrize(
    "line",
    [
        '{"_step": 30, "_runtime": 12.5, "_timest',
        '{"_step": true, "_runtime": 12.5}',
        '"_step": 5, "_runtime": 1}',
        '{"_step": {"nested": 1}}',
        "[" * 5000 + '{"_step": 1}',
    ],
)
def test_mangled_rows_are_passed_over(line: str) -> None:
    assert list(read([*as_json([row(10, 5.5), row(20, 11.0)]), line]).step)[:2] == [10, 20]


def test_a_header_that_is_repeated_or_a_short_row_is_no_record() -> None:
    lines = as_table([row(10 * n, 5.5 * n) for n in range(5)])
    assert len(read([*lines, lines[0], "50,27.5"])) == 5


@pytest.mark.parametrize(
    "line",
    ["global_step,loss,_runtime", "the _step and the _runtime", '{"step": 1, "_runtime": 2}'],
)
def test_other_lines_are_not_recognised(line: str) -> None:
    assert not Wandb.sniff(line)


def test_rows_of_what_is_logged_less_often_are_no_steps() -> None:
    rows: list[dict[str, object]] = []
    for n in range(12):
        logged = [{"reward": 1.0}, {"average": 2.0}] + [{"video": {"size": 9}}] * (n % 4 == 0)
        for part in logged:
            clock = 5.0 * n + 0.01 * (len(rows) % 3)
            rows.append({"_step": len(rows), "_timestamp": BEGIN + clock, **part})
    run = read(as_json(rows))
    assert len(run) == 12
    gaps = [after - before for before, after in zip(run.wall, run.wall[1:], strict=False)]
    assert all(4.9 < gap < 5.1 for gap in gaps)


def test_evaluations_with_rows_of_their_own_are_events_between_steps() -> None:
    rows: list[dict[str, object]] = []
    for n in range(10):
        rows.append({"_step": len(rows), "_runtime": 5.0 * n, "loss": 2.0})
        if n % 5 == 4:
            rows.append({"_step": len(rows), "_runtime": 5.0 * n + 3, "val/loss": 2.0})
    run = read(as_json(rows))
    assert list(run.step) == [0, 1, 2, 3, 4, 6, 7, 8, 9, 10]
    assert events(run) == [(EventKind.EVAL, 5, None), (EventKind.EVAL, 10, None)]


def test_the_rows_of_a_trainer_that_logs_its_own_step_are_all_steps() -> None:
    name = "train/global_step"
    rows: list[dict[str, object]] = [
        {"_step": n, "_runtime": 5.0 * n, name: n, ("a" if n % 3 else "b"): 1} for n in range(9)
    ]
    assert list(read(as_json(rows)).step) == list(range(9))
