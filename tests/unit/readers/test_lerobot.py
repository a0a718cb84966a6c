"""LeRobot: steps that are abbreviated from a thousand on, averages of three parts of a step."""

from __future__ import annotations

from math import isnan

import pytest

from instride.steps.model import EventKind, Run
from instride.steps.readers.lerobot import LeRobot
from instride.steps.reading import detect
from tests.unit.readers.drawing import read as read_as
from tests.unit.readers.reading import events

DAY_S = 1_767_225_600.0


def read(lines: list[str]) -> Run:
    return read_as(LeRobot, lines)


def big(number: float) -> str:
    """As LeRobot abbreviates a number."""
    for suffix in ("", "K", "M"):
        if number < 1000:
            return f"{number:.0f}{suffix}"
        number /= 1000
    return f"{number:.0f}B"


def line(at_s: int, text: str) -> str:
    clock = f"{at_s // 3600:02}:{at_s // 60 % 60:02}:{at_s % 60:02}"
    return f"INFO 2026-01-01 {clock} ot_train.py:357 {text}"


def record(step: int, update_s: float = 0.5, data_s: float = 0.125) -> str:
    return line(
        step,
        f"step:{big(step)} smpl:{big(32 * step)} ep:{big(step / 10)} epch:{step / 395:.2f} "
        f"loss:2.215 grdn:49.836 lr:1.0e-05 updt_s:{update_s:.3f} data_s:{data_s:.3f}",
    )


def test_a_step_takes_its_update_and_its_wait_for_data() -> None:
    lines = [record(200), record(400, 0.75, 0.25)]
    run = read(lines)
    assert list(run.step) == [200, 400]
    assert list(run.seconds) == [0.625, 1.0]
    assert list(run.data) == [0.125, 0.25]
    assert list(run.wall) == [DAY_S + 200, DAY_S + 400]
    assert run.clock_resolution_s == 1.0
    assert detect(enumerate(lines, 1)) is LeRobot


@pytest.mark.parametrize("interval", [50, 200, 250, 1000, 1500])
def test_abbreviated_steps_are_counted_on(interval: int) -> None:
    steps = list(range(interval, 40 * interval, interval))
    settings = line(0, f" 'log_freq': {interval},")
    assert list(read([settings, *(record(step) for step in steps)]).step) == steps


def test_the_interval_is_learnt_where_no_setting_is_printed() -> None:
    steps = list(range(200, 4000, 200))
    assert list(read([record(step) for step in steps]).step) == steps


def test_a_resumed_run_begins_at_what_is_printed() -> None:
    run = read([record(200), record(400), record(20_000), record(20_200), record(20_400)])
    assert list(run.step) == [200, 400, 20_000, 20_200, 20_400]


def test_newer_versions_time_the_whole_step() -> None:
    text = record(200).replace("updt_s:0.500 data_s:0.125", "")
    run = read([text + "data_s:0.125 prep_s:0.010 updt_s:0.500 step_s:0.640 smp/s:50"])
    assert (list(run.seconds), list(run.data)) == ([0.64], [0.125])


def test_saves_evaluations_launches_and_the_end_are_events() -> None:
    run = read(
        [
            line(0, "Creating dataset"),
            line(60, "Start offline training on a fixed dataset, with effective batch size: 32"),
            record(200),
            line(201, "Checkpoint policy after step 200"),
            line(210, "Eval policy at step 200"),
            record(400),
            line(405, "step 400: eval_loss=0.5"),
            line(410, "End of training"),
        ]
    )
    assert events(run) == [
        (EventKind.START, 0, None),
        (EventKind.SAVE, 1, None),
        (EventKind.EVAL, 1, None),
        (EventKind.EVAL, 2, None),
        (EventKind.END, 2, None),
    ]


def test_mangled_records_are_passed_over_or_have_no_time() -> None:
    cut = record(400)[:60]
    absurd = record(600).replace("step:600", "step:" + "9" * 400)
    broken = record(800).replace("updt_s:0.500", "updt_s:nan")
    run = read([record(200), cut, absurd, broken])
    assert list(run.step) == [200, 800]
    assert isnan(run.seconds[1])
