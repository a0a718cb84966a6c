"""YOLOX: evaluations and saves between epochs, seen in the timestamps only."""

from __future__ import annotations

from math import isnan
from pathlib import Path
from statistics import median

import pytest

from instride.steps.model import EventKind, Run
from instride.steps.readers.yolox import Yolox
from instride.steps.reading import read_with
from instride.steps.source import Source
from tests.unit.readers.drawing import read as read_as
from tests.unit.readers.reading import events

DAY_S = 1_767_225_600.0


def read(lines: list[str]) -> Run:
    return read_as(Yolox, lines)


def said(at_s: float, text: str, place: str = "yolox.core.trainer:after_iter:253") -> str:
    minutes, seconds = divmod(at_s, 60)
    return f"2026-01-01 00:{int(minutes):02}:{seconds:06.3f} | INFO     | {place} - {text}"


def record(
    at_s: float, epoch: int, iteration: int, seconds: float, memory: str = "mem: 4717Mb"
) -> str:
    return said(
        at_s,
        f"epoch: {epoch}/20, iter: {iteration}/112, {memory}, iter_time: {seconds:.3f}s, "
        "data_time: 0.001s, total_loss: 2.8, iou_loss: 1.1, lr: 1.4e-05, size: 800, ETA: 0:03:21",
    )


def between_epochs(at_s: float, epoch: int) -> list[str]:
    """What comes after an epoch: a save, an evaluation, two saves."""
    return [
        said(at_s, "Save weights to ./YOLOX_outputs/yolox_s"),
        said(at_s + 3.0, "Evaluate in main process..."),
        said(at_s + 3.2, ""),
        "Average forward time: 34.45 ms, Average NMS time: 1.09 ms, Average inference time: 35 ms",
        " Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = 0.818",
        said(at_s + 3.2, "Save weights to ./YOLOX_outputs/yolox_s"),
        said(at_s + 3.4, f"---> start train epoch{epoch + 1}"),
    ]


def test_steps_count_on_and_have_both_clocks() -> None:
    run = read([record(1.0, 1, 110, 0.095), record(5.25, 2, 10, 0.09)])
    assert list(run.step) == [110, 122]
    assert list(run.seconds) == [0.095, 0.09]
    assert list(run.data) == [0.001, 0.001]
    assert list(run.wall) == [DAY_S + 1.0, DAY_S + 5.25]
    assert run.clock_resolution_s == 0.0


def test_the_line_with_the_memory_of_the_machine_is_a_record_too() -> None:
    line = record(1.0, 1, 10, 0.095, memory="gpu mem: 4717Mb, mem: 20.1Gb")
    assert Yolox.sniff(line)
    assert list(read([line]).seconds) == [0.095]


def test_a_console_that_prints_whole_seconds_has_a_coarse_clock() -> None:
    lines = [record(at_s, 1, 10 * at_s, 0.1).replace(".000 |", " |") for at_s in range(1, 9)]
    run = read(lines)
    assert run.wall[0] == DAY_S + 1.0
    assert run.clock_resolution_s == 1.0


def test_what_is_between_two_epochs_stands_before_the_record_that_follows() -> None:
    run = read([record(1.0, 1, 110, 0.095), *between_epochs(1.2, 1), record(5.6, 2, 10, 0.095)])
    assert events(run) == [
        (EventKind.SAVE, 1, None),
        (EventKind.EVAL, 1, None),
        (EventKind.EPOCH, 1, None),
    ]
    assert [event.line for event in run.events] == [2, 3, 8]


def test_a_second_run_in_the_file_is_another_one() -> None:
    done = said(9.0, "Training of experiment is done and the best AP is 93.61")
    launch = [
        said(400.0, "args: Namespace(batch_size=16, ckpt='yolox_s.pth')"),
        said(401.0, "loading checkpoint for fine tuning"),
        said(410.0, "Training start..."),
        said(410.0, "---> start train epoch1"),
    ]
    lines = [record(1.0, 20, 110, 0.09), *between_epochs(1.2, 20)[:-1], done, *launch]
    run = read([*lines, record(412.0, 1, 10, 0.3)])
    assert events(run) == [
        (EventKind.SAVE, 1, None),
        (EventKind.EVAL, 1, None),
        (EventKind.END, 1, None),
        (EventKind.START, 1, None),
        (EventKind.LOAD, 1, None),
        (EventKind.EPOCH, 1, None),
    ]
    assert [end.wall for end in run.ends] == [DAY_S + 9.0]


def test_set_up_lines_tell_when_the_process_began() -> None:
    run = read([said(1.5, "args: Namespace(batch_size=16)"), record(8.0, 1, 10, 0.5)])
    assert run.first_clock is not None
    assert run.first_clock.wall == DAY_S + 1.5


def test_a_time_of_nan_is_unknown() -> None:
    run = read([record(1.0, 1, 10, float("nan"))])
    assert isnan(run.seconds[0])
    assert list(run.wall) == [DAY_S + 1.0]


@pytest.mark.parametrize(
    "line",
    [
        record(1.0, 1, 10, 0.095)[:100],
        "epoch: 1/20, iter: 10/112, iter_time: 0.1s",
        "epoch: 1/20, iter: 10/112, mem: , iter_time: " * 1000,
        record(1.0, int("9" * 30), 10, 0.1),
        said(1.0, "Save weights to , iter_time: 0.1s"),
    ],
)
def test_other_and_mangled_lines_are_no_records(line: str) -> None:
    assert not Yolox.sniff(line)
    assert not len(read([line]))


def test_a_real_log_has_two_runs_with_all_their_saves(cases: Path) -> None:
    run = read_with(Yolox, [Source(str(cases / "yolox-train_log.txt"))])
    assert len(run) == 240
    assert list(run.step[:12]) == [*range(10, 120, 10), 122]
    assert median(run.seconds[:220]) == pytest.approx(0.088, abs=0.001)
    kinds = [event.kind for event in run.events]
    assert kinds.count(EventKind.SAVE) == kinds.count(EventKind.EVAL) == 40
    assert [event.at for event in run.events if event.kind is EventKind.START] == [220]
