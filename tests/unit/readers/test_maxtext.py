"""MaxText: lines are printed a step late, and pauses are in the step after them."""

from __future__ import annotations

from math import isnan

import pytest

from instride.steps.model import EventKind, Run
from instride.steps.readers.maxtext import MaxText
from tests.unit.readers.drawing import read as read_as
from tests.unit.readers.reading import events

LAUNCH = ["Found 8 devices.", "Creating checkpoint manager...", "Checkpoint manager created!"]


def read(lines: list[str]) -> Run:
    return read_as(MaxText, lines)


def record(step: int, seconds: float = 1.5) -> str:
    return (
        f"completed step: {step}, seconds: {seconds:.3f}, TFLOP/s/device: 120.118, "
        f"Tokens/s/device: 2452.113, total_weights: 65536, loss: 9.112"
    )


def save(step: int, seconds: float) -> list[str]:
    return [
        f"[process=0] Saving checkpoint at step {step}",
        f"Finished blocking save in {seconds:.2f} seconds. Continuing to save asynchronously to /o",
        f"saved a checkpoint at step {step}",
    ]


def test_every_step_has_its_seconds() -> None:
    run = read([record(n, 1.5 + n) for n in range(5)])
    assert list(run.step) == [0, 1, 2, 3, 4]
    assert list(run.seconds) == [1.5, 2.5, 3.5, 4.5, 5.5]


def test_a_save_belongs_to_the_step_after_it_although_lines_are_late() -> None:
    lines = [record(8), *save(10, 4.25), record(9), record(10), record(11, 5.75), record(12)]
    run = read(lines)
    assert events(run) == [(EventKind.SAVE, 3, 4.25)]
    assert (run.step[3], run.seconds[3], run.events[0].step) == (11, 5.75, 10)


def test_it_is_the_same_where_lines_are_not_late() -> None:
    lines = [record(9), record(10), *save(10, 4.25), record(11, 5.75), record(12)]
    run = read(lines)
    assert [(event.kind, run.step[event.at]) for event in run.events] == [(EventKind.SAVE, 11)]


@pytest.mark.parametrize(
    "line",
    [
        "saved a checkpoint at step 10",
        "Saved a checkpoint at step 10.",
        "Started an asynchronous checkpoint save for step 10",
    ],
)
def test_a_save_without_the_words_of_orbax_is_marked(line: str) -> None:
    run = read([record(9), line, record(10), record(11)])
    assert events(run) == [(EventKind.SAVE, 2, None)]


@pytest.mark.parametrize(
    "line",
    [
        "Completed eval after train step 10, loss=3.100, perplexity=1.0, total_weights=5000.0",
        "eval metrics after step: 10, loss=3.100, total_weights=5000.0",
        "Starting eval after train step 10",
    ],
)
def test_an_evaluation_is_marked(line: str) -> None:
    run = read([record(8), "Completed eval step 3", line, record(9), record(10), record(11)])
    assert events(run) == [(EventKind.EVAL, 3, None)]


def test_what_is_held_back_at_the_end_is_closing_work() -> None:
    run = read([record(8), record(9), *save(10, 4.25), record(10)])
    assert events(run) == [(EventKind.SAVE, 3, 4.25)]


def test_a_launch_is_one_event_and_lets_nothing_pass() -> None:
    lines = [*LAUNCH, record(0), record(1), *save(2, 4.25), *LAUNCH, record(0), record(1)]
    assert events(read(lines)) == [
        (EventKind.START, 0, None),
        (EventKind.SAVE, 2, 4.25),
        (EventKind.START, 2, None),
    ]


def test_steps_that_go_back_far_let_nothing_pass() -> None:
    lines = [*(record(n) for n in range(30)), *save(30, 4.25), record(10), record(11)]
    run = read(lines)
    assert events(run) == [(EventKind.SAVE, 30, 4.25)]


def test_loads_are_marked() -> None:
    run = read(["restoring from this run's directory latest step 20", record(21)])
    assert events(run) == [(EventKind.LOAD, 0, None)]


def test_the_launch_of_newer_versions_is_marked() -> None:
    run = read(["Creating checkpoint manager with ocdbt=True and zarr3=True", record(0)])
    assert events(run) == [(EventKind.START, 0, None)]


def test_a_step_of_an_evaluation_is_no_step() -> None:
    evaluated = "Completed eval step: 10, seconds: 0.250, running loss=3.1, running perplexity=22.1"
    assert list(read([record(9), evaluated, record(10)]).step) == [9, 10]


def test_prefixes_and_profiled_steps_are_read() -> None:
    stamped = "[20260929 19:48:42][rank-0/1][INFO]     "
    profiled = record(6).replace("completed", "completed profiler activation/deactivation")
    run = read([stamped + record(5), stamped + profiled])
    assert list(run.step) == [5, 6]


def test_mangled_lines_are_passed_over() -> None:
    run = read([record(5)[:30], record(6, float("nan")), "completed step: x, seconds: 1.0, "])
    assert list(run.step) == [6]
    assert isnan(run.seconds[0])
