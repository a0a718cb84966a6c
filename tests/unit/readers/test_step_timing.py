"""Step Timing Log: labels that tell of a save one step late, or of a launch."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from math import isnan
from pathlib import Path
from statistics import median

import pytest

from instride.steps.model import EventKind, Run
from instride.steps.readers.step_timing import StepTiming
from instride.steps.reading import read_with
from instride.steps.source import Source
from tests.unit.readers.reading import run_of

EPOCH = datetime(2025, 3, 1, 9, 30, tzinfo=UTC)


def read(lines: Iterable[str]) -> Run:
    return run_of(StepTiming, lines)


def record(step: int, mode: str = "NORMAL", ms: float = 5250.0, at_s: float = 0.0) -> str:
    stamp = (EPOCH + timedelta(seconds=at_s)).replace(tzinfo=None).isoformat()
    return f"{stamp} [Step {step:6d}] {mode:12s} | total={ms:.1f}ms | mode={mode}"


def after_saves(run: Run) -> list[int]:
    return [event.at for event in run.events if event.kind is EventKind.AFTER_SAVE]


def test_every_record_gives_its_step_seconds_and_the_clock_at_its_end() -> None:
    run = read([record(7, at_s=0.25), record(8, ms=5500.0, at_s=5.75)])
    assert list(run.step) == [7, 8]
    assert list(run.seconds) == [5.25, 5.5]
    assert [wall - EPOCH.timestamp() for wall in run.wall] == [0.25, 5.75]


def test_a_whole_second_is_printed_without_a_fraction_and_read_all_the_same() -> None:
    line = record(7, at_s=60.0)
    assert "." not in line.split()[0]
    assert read([line]).wall[0] == EPOCH.timestamp() + 60


def test_a_change_to_post_ckpt_marks_the_save_in_the_record_before() -> None:
    run = read([record(7), record(8, ms=37000.0), record(9, "POST-CKPT"), record(10, "POST-CKPT")])
    assert after_saves(run) == [2]
    assert run.step[after_saves(run)[0] - 1] == 8


def test_each_save_is_marked_even_where_the_labels_of_two_overlap() -> None:
    modes = ["NORMAL", "POST-CKPT", "POST-CKPT", "NORMAL", "POST-CKPT"]
    run = read(record(step, mode) for step, mode in enumerate(modes, 100))
    assert after_saves(run) == [1, 4]


def test_the_label_of_the_first_steps_of_a_process_is_no_save() -> None:
    run = read([record(7, "POST-CKPT"), record(8, "POST-CKPT"), record(9)])
    assert after_saves(run) == []


def test_the_label_of_a_resumed_process_is_no_save() -> None:
    run = read([record(8), record(9), record(7, "POST-CKPT"), record(8, "POST-CKPT")])
    assert list(run.step) == [8, 9, 7, 8]
    assert after_saves(run) == []


def test_a_label_that_changes_across_lost_lines_names_no_record() -> None:
    assert after_saves(read([record(8), record(20, "POST-CKPT")])) == []


def test_the_header_is_a_launch_and_breaks_the_sequence_of_labels() -> None:
    run = read(["# Step Timing Log", record(8), "# Step Timing Log", record(9, "POST-CKPT")])
    assert [(event.kind, event.at) for event in run.events] == [
        (EventKind.START, 0),
        (EventKind.START, 1),
    ]


def test_further_columns_before_the_total_are_passed_over() -> None:
    line = (
        "2025-03-01T09:30:00 [Step      7] NORMAL       | data=12.5ms | fwd=2.0ms | total=250.0ms"
    )
    run = read([line])
    assert StepTiming.sniff(line)
    assert run.seconds[0] == 0.25


def test_the_own_clock_of_a_record_counts_and_not_that_of_a_collector() -> None:
    run = read([f"2030-01-01T00:00:00.123456Z {record(7, at_s=0.5)}"])
    assert run.wall[0] == EPOCH.timestamp() + 0.5


@pytest.mark.parametrize("time", ["nan", "inf"])
def test_a_time_that_is_no_number_leaves_a_record_without_seconds(time: str) -> None:
    run = read([record(7).replace("5250.0", time)])
    assert list(run.step) == [7]
    assert isnan(run.seconds[0])


def test_a_record_on_the_console_has_no_clock() -> None:
    run = read(["  [Step      7] POST-CKPT    | total=250.0ms | mode=POST-CKPT"])
    assert run.seconds[0] == 0.25
    assert isnan(run.wall_at(0))


@pytest.mark.parametrize(
    "line",
    [
        "# each line: [Step N] MODE | total=Xms",
        "2025-03-01T09:30:00 [Step      7] NORMAL       | total=5250.0m",
        "2025-03-01T09:30:00 [Step      7] NORMAL       | mode=NORMAL",
        "2025-03-01T09:30:00 [Step 99999999999999999999] NORMAL       | total=5250.0ms",
        "[Step 7] loss 2.31",
    ],
)
def test_other_and_broken_lines_are_no_records(line: str) -> None:
    assert not StepTiming.sniff(line)
    assert len(read([line])) == 0


def test_the_real_log_has_one_save_and_a_resume_that_is_none(cases: Path) -> None:
    run = read_with(StepTiming, [Source(str(cases / "step-timing-log.txt"))])
    assert len(run) == 521
    assert list(run.step) == [*range(3473, 3992), 3969, 3970]
    saved = [run.step[at - 1] for at in after_saves(run)]
    assert saved == [3968]
    assert run.seconds[3968 - 3473] == pytest.approx(36.996, abs=1e-3)
    assert median(list(run.seconds)[34:495]) == pytest.approx(5.384, abs=0.01)
    assert run.wall[519] - run.wall[518] == pytest.approx(50843, abs=1)
