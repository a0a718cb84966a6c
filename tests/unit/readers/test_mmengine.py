"""mmengine and mmcv: text and JSON, by epoch and by iteration, epochs of unknown length."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from statistics import median

import pytest

from instride.steps.model import EventKind, Pauses, Run
from instride.steps.readers.mmengine import MMEngine
from instride.steps.reading import detect, read_with
from instride.steps.source import Source
from tests.unit.readers.reading import run_of


def read(lines: Iterable[str]) -> Run:
    return run_of(MMEngine, lines)


def mmengine(seconds: int, text: str) -> str:
    clock = f"03:{seconds // 60:02}:{seconds % 60:02}"
    return f"2026/01/02 {clock} - mmengine - INFO - {text}"


def mmcv(seconds: int, text: str) -> str:
    clock = f"03:{seconds // 60:02}:{seconds % 60:02},250"
    return f"2026-01-02 {clock} - mmdet - INFO - {text}"


TIMES = "eta: 1 day, 0:12:30  time: 0.6450  data_time: 0.0087  memory: 3813  loss: 0.8877"


def as_json(epoch: int, iteration: int, seconds: float = 0.6, data: float = 0.01) -> str:
    fields = {"mode": "train", "epoch": epoch, "iter": iteration, "lr": 0.001, "memory": 3813}
    return json.dumps(fields | {"data_time": data, "loss": 0.8, "time": seconds})


def epochs(first: int, last: int, length: int) -> list[str]:
    lines = []
    for epoch in range(first, last + 1):
        lines += [as_json(epoch, iteration) for iteration in range(10, length + 1, 10)]
        lines.append(json.dumps({"mode": "val", "epoch": epoch, "iter": 40, "mAP": 0.5}))
    return lines


def test_text_by_epoch_counts_on_and_leaves_pauses_out() -> None:
    run = read(
        mmengine(
            32 * i,
            f"Epoch(train)  [{1 + i // 2}][{50 + i % 2 * 50:3}/100]  "
            f"base_lr: 1.0000e-03 lr: 1.0000e-03  {TIMES}",
        )
        for i in range(4)
    )
    assert list(run.step) == [50, 100, 150, 200]
    assert list(run.seconds) == [0.645] * 4
    assert list(run.data) == [0.0087] * 4
    assert [wall - run.wall[0] for wall in run.wall] == [0, 32, 64, 96]
    assert run.clock_resolution_s == 1.0
    assert run.dialect.pauses is Pauses.NONE


def test_text_by_iteration_has_pauses_in_the_next_record() -> None:
    run = read(
        [
            mmengine(32, f"Iter(train) [   50/40000]  lr: 1.0000e-03  {TIMES}"),
            mmengine(33, "Saving checkpoint at 50 iterations"),
            mmengine(64, f"Iter(train) [  100/40000]  lr: 1.0000e-03  {TIMES}"),
        ]
    )
    assert list(run.step) == [50, 100]
    assert [(event.kind, event.at, event.step) for event in run.events] == [(EventKind.SAVE, 1, 50)]
    assert run.dialect.pauses is Pauses.NEXT


@pytest.mark.parametrize(
    ("line", "step"),
    [
        ("Epoch [2][50/7330]\tlr: 1.9e-03, eta: 12:34:56, time: 0.645, data_time: 0.053,", 7380),
        (
            "Epoch(train) [2][50/7330]\tlr: 1.9e-03, eta: 0:34:56, time: 0.645, data_time: 0.053,",
            7380,
        ),
        ("Iter [50/40000]\tlr: 1.9e-03, eta: 12:34:56, time: 0.645, data_time: 0.053, loss: 1", 50),
    ],
)
def test_text_of_mmcv_is_read(line: str, step: int) -> None:
    run = read([mmcv(30, line)])
    assert MMEngine.sniff(mmcv(30, line))
    assert (run.step[0], run.seconds[0], run.data[0]) == (step, 0.645, 0.053)
    assert run.clock_resolution_s == 0.0


def test_validation_lines_are_no_records() -> None:
    run = read(
        [
            mmengine(32, f"Epoch(train) [1][100/100]  lr: 1.0000e-03  {TIMES}"),
            mmengine(33, "Saving checkpoint at 1 epochs"),
            mmengine(40, f"Epoch(val) [1][ 50/200]    {TIMES}"),
            mmengine(
                60, "Epoch(val) [1][200/200]    coco/bbox_mAP: 0.41  data_time: 0.001  time: 0.1"
            ),
            mmengine(92, f"Epoch(train) [2][ 50/100]  lr: 1.0000e-03  {TIMES}"),
        ]
    )
    assert list(run.step) == [100, 150]
    assert [(event.kind, event.at) for event in run.events] == [
        (EventKind.SAVE, 1),
        (EventKind.EVAL, 1),
    ]


def test_a_resumed_process_starts_once_and_loads() -> None:
    run = read(
        [
            mmcv(0, "Environment info:"),
            mmcv(20, "load checkpoint from local path: work/epoch_1.pth"),
            mmcv(21, "resumed epoch 1, iter 100"),
            mmcv(22, "Start running, host: me@box, work_dir: /work"),
            mmcv(60, "Epoch [2][50/100]\tlr: 1.9e-03, time: 0.645, data_time: 0.053, loss: 1"),
        ]
    )
    assert [(event.kind, event.at) for event in run.events] == [
        (EventKind.START, 0),
        (EventKind.LOAD, 0),
    ]
    assert run.first_clock is not None
    assert run.wall[0] - run.first_clock.wall == 60


def test_json_learns_how_long_an_epoch_is() -> None:
    run = read(epochs(1, 3, 30))
    assert list(run.step) == [10, 20, 30, 40, 50, 60, 70, 80, 90]
    assert list(run.data) == [0.01] * 9
    assert [(event.kind, event.at) for event in run.events] == [
        (EventKind.EVAL, 3),
        (EventKind.EVAL, 6),
        (EventKind.EVAL, 9),
    ]
    assert run.dialect.pauses is Pauses.NONE


def test_each_run_in_a_file_has_epochs_of_its_own_length() -> None:
    run = read(epochs(1, 2, 30) + epochs(1, 2, 50))
    assert list(run.step) == [10, 20, 30, 40, 50, 60, *range(10, 101, 10)]


def test_a_resumed_run_has_the_epochs_of_the_run_before() -> None:
    run = read([*epochs(1, 3, 30), as_json(3, 10), as_json(3, 20)])
    assert list(run.step)[-2:] == [70, 80]


def test_a_log_that_begins_with_a_late_epoch_counts_those_before_it() -> None:
    assert list(read(epochs(3, 4, 30)).step) == [70, 80, 90, 100, 110, 120]


def test_json_by_iteration_goes_on_by_itself() -> None:
    run = read([as_json(1, 50), as_json(1, 100), as_json(2, 150), as_json(3, 200)])
    assert list(run.step) == [50, 100, 150, 200]
    assert run.dialect.pauses is Pauses.NEXT
    late = read([as_json(4, 1050), as_json(4, 1100)])
    assert list(late.step) == [1050, 1100]


def test_scalars_of_mmengine_have_the_iteration_of_all_epochs() -> None:
    fields = {"lr": 0.001, "data_time": 0.01, "loss": 1.2, "time": 0.6, "epoch": 2, "memory": 9}
    line = json.dumps(fields | {"iter": 150, "step": 150})
    results = json.dumps({"coco/bbox_mAP": 0.4, "data_time": 0.01, "time": 0.1, "step": 2})
    assert MMEngine.sniff(line)
    assert not MMEngine.sniff(results)
    run = read([line, results, line.replace("150", "200")])
    assert list(run.step) == [150, 200]
    assert [(event.kind, event.at) for event in run.events] == [(EventKind.EVAL, 1)]
    assert run.dialect.pauses is Pauses.NONE


def test_environment_information_is_a_launch() -> None:
    run = read(['{"env_info": "sys.platform: linux", "seed": 0}', *epochs(1, 1, 30)])
    assert run.events[0].kind is EventKind.START


def test_damaged_records_are_not_read() -> None:
    whole = mmengine(32, f"Epoch(train) [1][ 50/100]  lr: 1.0000e-03  {TIMES}")
    huge = as_json(1, 10).replace('"iter": 10', '"iter": ' + "9" * 400)
    assert (
        len(read([whole[:70], whole.replace("[ 50/100]", "[ 50/"), huge, as_json(1, 10)[:60]])) == 0
    )


def test_the_real_log_is_seven_runs_in_one_file(cases: Path) -> None:
    source = Source(str(cases / "mmdet-mmcv.log.json"))
    assert detect(source.lines()) is MMEngine
    run = read_with(MMEngine, [source])
    assert len(run) == 1026
    assert sum(event.kind is EventKind.EVAL for event in run.events) == 46
    back = [index for index in range(1, len(run)) if run.step[index] <= run.step[index - 1]]
    assert [run.step[index - 1] for index in back] == [1500, 750, 1500, 310, 3100, 1550]
    assert [run.step[index] for index in back] == [10] * 6
    assert median(run.seconds) == pytest.approx(0.645, abs=0.01)
