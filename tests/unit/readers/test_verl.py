"""verl: one line a step, which says what its save and its test cost."""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan
from pathlib import Path
from statistics import median

import pytest

from instride.steps.model import EventKind, Run
from instride.steps.readers.modded_nanogpt import ModdedNanoGPT
from instride.steps.readers.verl import Verl
from instride.steps.reading import read_with
from instride.steps.source import Source
from tests.unit.readers.reading import events_with_steps, run_of

PREFIX = "(TaskRunner pid=4321) "


def read(lines: Iterable[str]) -> Run:
    return run_of(Verl, lines)


def record(number: int, /, **timings: float | str) -> str:
    """A line as verl prints it; the timings stand in the order in which they ended."""
    metrics = [f"critic/score{i}/mean:0.941" for i in range(40)]
    parts = [f"timing_s/{name}:{value}" for name, value in timings.items()]
    per_token = ["timing_per_token_ms/gen:0.126", "perf/time_per_step:11.376"]
    return " - ".join(
        [
            f"{PREFIX}step:{number}",
            *metrics,
            f"training/global_step:{number}",
            "timing_s/gen:4.137",
            *parts,
            *per_token,
        ]
    )


def test_every_line_is_a_step_with_its_duration() -> None:
    run = read([record(101, step=11.376), record(102, step=10.189)])
    assert list(run.step) == [101, 102]
    assert list(run.seconds) == [11.376, 10.189]
    assert run.events == []


def test_a_save_and_a_test_inside_the_step_stand_before_its_record() -> None:
    run = read([record(109, step=10.0), record(110, testing=6.5, save_checkpoint=18.0, step=34.5)])
    assert list(run.seconds) == [10.0, 34.5]
    assert events_with_steps(run) == [(EventKind.EVAL, 1, 6.5, 110), (EventKind.SAVE, 1, 18.0, 110)]


def test_a_save_and_a_test_listed_after_the_step_came_on_top_of_it() -> None:
    run = read([record(110, step=10.0, testing=6.5, save_checkpoint=18.0, stop_profile=0.0)])
    assert list(run.seconds) == [34.5]
    assert events_with_steps(run) == [(EventKind.EVAL, 0, 6.5, 110), (EventKind.SAVE, 0, 18.0, 110)]


def test_numbers_may_be_of_any_length_and_of_numpy() -> None:
    run = read(
        [
            record(1, step="10.123456789012345"),
            record(2, step="np.float64(10.25)"),
            record(3, save_checkpoint="5.2e-05", step="12"),
        ]
    )
    assert list(run.seconds) == [10.123456789012345, 10.25, 12.0]
    assert run.events[0].seconds == 5.2e-05


def test_the_validation_before_the_training_is_an_evaluation_and_no_step() -> None:
    line = f"{PREFIX}step:0 - val-core/gsm8k/reward/mean@1:0.5 - val-aux/gsm8k/score:0.4"
    assert not Verl.sniff(line)
    run = read([line, record(1, step=10.0)])
    assert list(run.step) == [1]
    assert events_with_steps(run) == [(EventKind.EVAL, 0, None, None)]


def test_launches_and_loads_are_events() -> None:
    lines = [
        f"{PREFIX}Total training steps: 435",
        f"{PREFIX}Training from scratch",
        record(1, step=10.0),
        f"{PREFIX}Total training steps: 435",
        f"{PREFIX}Load from checkpoint folder: /ckpt/global_step_1",
        record(2, step=10.0),
    ]
    assert [event[:2] for event in events_with_steps(read(lines))] == [
        (EventKind.START, 0),
        (EventKind.LOAD, 0),
        (EventKind.START, 1),
        (EventKind.LOAD, 1),
    ]


def test_times_come_from_the_prefix_if_any() -> None:
    run = read(["2026-01-01T00:01:00Z " + record(1, step=10.0), record(2, step=10.0)])
    assert run.wall[0] == 1_767_225_660.0
    assert isnan(run.wall[1])


def test_a_resumed_run_repeats_its_steps() -> None:
    steps = [1, 2, 3, 4, 5, 6, 3, 4]
    assert list(read(record(step, step=10.0) for step in steps).step) == steps


def test_a_step_without_a_readable_duration_is_still_a_step() -> None:
    run = read([record(1, step="nan"), record(2, step=""), record(3, step=9.5)])
    assert list(run.step) == [1, 2, 3]
    assert isnan(run.seconds[0])
    assert isnan(run.seconds[1])


@pytest.mark.parametrize(
    "line",
    [
        f"{PREFIX}step:5 - timing_s/param_sync:1.2 - timing_s/testing:3.0",
        f"{PREFIX}step:5 - train/loss:0.5 - train/lr(1e-3):0.01",
        "training/global_step:110 - timing_s/step:34.2",
        "timing_s/step:34.2",
        "step:x - timing_s/step:34.2",
        f"step:{'9' * 5000} - timing_s/step:34.2",
        "timing_s/step:" * 4500,
        "step:1 - " * 7000,
        ModdedNanoGPT.dialect.sample,
    ],
)
def test_other_and_mangled_lines_are_no_records(line: str) -> None:
    assert not Verl.sniff(line)
    run = read([line])
    assert not len(run)
    assert run.events == []


def test_a_line_cut_before_its_duration_is_lost_and_nothing_else() -> None:
    whole = record(2, testing=3.0, step=10.0)
    cut = whole[: whole.index("timing_s/step")]
    run = read([record(1, step=10.0), cut, record(3, step=10.0)])
    assert list(run.step) == [1, 3]
    assert run.events == []


def test_a_real_log_splits_its_saves_and_tests_exactly(cases: Path) -> None:
    run = read_with(Verl, [Source(str(cases / "verl-ppo-steps.log"))])
    assert list(run.step) == list(range(101, 258))
    assert median(run.seconds) == pytest.approx(10.9, abs=0.05)
    assert sum(run.seconds) == pytest.approx(2080, abs=1)
    for kind, total_s in ((EventKind.SAVE, 270.5), (EventKind.EVAL, 102.7)):
        chosen = [event for event in run.events if event.kind is kind]
        assert sum(event.seconds or 0.0 for event in chosen) == pytest.approx(total_s, abs=0.05)
        assert [event.step for event in chosen] == list(range(110, 251, 10))
        assert [run.step[event.at] for event in chosen] == [event.step for event in chosen]
