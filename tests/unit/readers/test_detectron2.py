"""detectron2: text by its timestamps, `metrics.json` by its medians."""

from __future__ import annotations

import json
from collections.abc import Iterable
from math import isnan
from pathlib import Path
from statistics import median

import pytest

from instride.steps.model import EventKind, Run
from instride.steps.readers.detectron2 import Detectron2
from instride.steps.reading import detect, read_with
from instride.steps.source import Source
from tests.unit.readers.reading import run_of


def read(lines: Iterable[str]) -> Run:
    return run_of(Detectron2, lines)


def stamped(seconds: int, text: str, logger: str = "d2.utils.events") -> str:
    return f"[01/02 03:{seconds // 60:02}:{seconds % 60:02} {logger}]: {text}"


def text(step: int, last: str = "last_time: 0.4290  ") -> str:
    return (
        f" eta: 0:14:02  iter: {step}  total_loss: 1.204  loss_cls: 0.8  time: 0.4311  {last}"
        f"data_time: 0.0031  last_data_time: 0.0029  lr: 0.0012  max_mem: 4012M"
    )


def as_json(step: int, seconds: float = 0.43) -> str:
    fields = {"data_time": 0.003, "eta_seconds": 851.8, "iteration": step, "loss_cls": 0.8}
    return json.dumps(fields | {"lr": 1e-4, "time": seconds, "total_loss": 1.2})


def test_text_gives_the_last_time_and_the_wall_clock() -> None:
    run = read(stamped(9 * i, text(20 * i - 1)) for i in range(1, 5))
    assert list(run.step) == [19, 39, 59, 79]
    assert list(run.seconds) == [0.429] * 4
    assert list(run.data) == [0.0031] * 4
    assert [wall - run.wall[0] for wall in run.wall] == [0, 9, 18, 27]
    assert run.clock_resolution_s == 1.0


def test_an_average_since_the_start_is_no_time_of_these_iterations() -> None:
    run = read([stamped(9, text(19, last=""))])
    assert isnan(run.seconds_at(0))
    assert not isnan(run.wall[0])


def test_lines_of_the_log_file_and_without_times_are_read() -> None:
    lines = [
        "[01/02 03:00:09] d2.utils.events INFO: " + text(19),
        stamped(18, " eta: N/A  iter: 39  total_loss: 0.035  loss_cls: 0.017  lr: 0.002500"),
    ]
    assert all(map(Detectron2.sniff, lines))
    run = read(lines)
    assert list(run.step) == [19, 39]
    assert run.wall[1] - run.wall[0] == 9


def test_a_new_year_does_not_turn_the_clock_back() -> None:
    lines = [f"[12/31 23:59:55 d2.utils.events]: {text(19)}"]
    lines += [f"[01/01 00:00:05 d2.utils.events]: {text(39)}"]
    run = read(lines)
    assert run.wall[1] - run.wall[0] == 10


def test_metrics_are_medians_of_an_interval_without_a_clock() -> None:
    run = read(as_json(20 * i - 1, 0.43 + i / 100) for i in range(1, 4))
    assert list(run.step) == [19, 39, 59]
    assert list(run.seconds) == pytest.approx([0.44, 0.45, 0.46])
    assert list(run.data) == [0.003] * 3
    assert not run.wall


def test_results_in_the_metrics_are_an_evaluation() -> None:
    results = json.dumps({"bbox/AP": 38.1, "bbox/AP50": 58.2, "iteration": 39})
    run = read([as_json(19), results, as_json(59)])
    assert list(run.step) == [19, 59]
    assert [(event.kind, event.at, event.step) for event in run.events] == [(EventKind.EVAL, 1, 39)]


def test_saves_evaluations_starts_and_the_end_are_events() -> None:
    run = read(
        [
            stamped(0, "Rank of current process: 0. World size: 1", "detectron2"),
            stamped(20, "[Checkpointer] Loading from model.pkl ...", "d2.checkpoint.detection"),
            stamped(30, "Starting training from iteration 0", "d2.engine.train_loop"),
            stamped(40, text(19)),
            stamped(45, "Saving checkpoint to ./output/model_0000029.pth", "fvcore.common"),
            stamped(50, "Start inference on 500 batches", "d2.evaluation.evaluator"),
            stamped(90, text(39)),
            stamped(95, "Total training time: 0:01:05 (0:00:45 on hooks)", "d2.engine.hooks"),
        ]
    )
    assert [(event.kind, event.at) for event in run.events] == [
        (EventKind.START, 0),
        (EventKind.LOAD, 0),
        (EventKind.SAVE, 1),
        (EventKind.EVAL, 1),
        (EventKind.END, 2),
    ]
    assert run.first_clock is not None
    assert run.wall[0] - run.first_clock.wall == 40


def test_launches_that_came_to_no_step_are_counted_but_not_two_lines_of_one() -> None:
    launch = "Rank of current process: 0. World size: 1"
    begin = "Starting training from iteration 0"
    run = read(
        [
            stamped(0, launch, "detectron2"),
            stamped(2, launch, "detectron2"),
            stamped(20, begin, "d2.engine.train_loop"),
            stamped(30, launch, "detectron2"),
            stamped(48, begin, "d2.engine.train_loop"),
            stamped(60, text(19)),
            stamped(70, launch, "detectron2"),
        ]
    )
    assert [(event.kind, event.at) for event in run.events] == [
        (EventKind.START, 0),
        (EventKind.START, 0),
        (EventKind.START, 1),
    ]


def test_damaged_records_are_not_read() -> None:
    huge = as_json(19).replace('"iteration": 19', '"iteration": ' + "9" * 400)
    assert len(read([stamped(9, text(19))[:60], as_json(19)[:40], huge])) == 0


def test_other_json_lines_are_not_taken() -> None:
    assert not Detectron2.sniff('{"iteration": 0, "iter_time": 11.0, "data_time": 9.9, "lr": 0.1}')
    assert not Detectron2.sniff('{"mode": "train", "epoch": 1, "iter": 10, "data_time": 0.3}')


def test_the_real_metrics_are_three_runs_in_one_file(cases: Path) -> None:
    source = Source(str(cases / "detectron2-metrics.jsonl"))
    assert detect(source.lines()) is Detectron2
    run = read_with(Detectron2, [source])
    assert len(run) == 233
    assert [(event.kind, event.step) for event in run.events] == [(EventKind.EVAL, 2000)]
    assert run.step[0] == 19
    assert max(run.step) == 2159
    assert median(run.seconds) == pytest.approx(0.436, abs=0.001)
    assert median(run.data) == pytest.approx(0.0035, abs=0.0002)
