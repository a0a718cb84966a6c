"""The Paddle family: one name for the time of a batch, many ways to say which batch it was."""

from __future__ import annotations

from math import isnan

import pytest

from instride.steps.model import EventKind, Run
from instride.steps.readers.paddle import Paddle
from tests.unit.readers.drawing import read as read_as
from tests.unit.readers.reading import events

DAY_S = 1_767_225_600.0


def read(lines: list[str]) -> Run:
    return read_as(Paddle, lines)


def ocr(at_s: int, step: int, seconds: float, data: float = 0.125) -> str:
    return f"[2026/01/01 00:{at_s // 60:02}:{at_s % 60:02}] ppocr INFO: " + (
        f"epoch: [1/200], global_step: {step}, lr: 0.001000, loss: 75.562096, avg_reader_cost: "
        f"{data:.5f} s, avg_batch_cost: {seconds:.5f} s, avg_samples: 64.0, "
        "ips: 77.65025 samples/s, eta: 6:02:34, max_mem_reserved: 2029 MB"
    )


def detection(epoch: int, iteration: int, seconds: float) -> str:
    return (
        f"[01/01 00:00:{iteration:02}] ppdet.engine INFO: Epoch: [{epoch}] [{iteration:4d}/1562] "
        f"learning_rate: 0.00100 loss: 1.2 eta: 1:02:03 batch_cost: {seconds:.4f} "
        "data_cost: 0.0003 ips: 8.9123 images/s"
    )


def rec(epoch: int, batch: int, seconds: float) -> str:
    return (
        f"2026-01-01 00:0{epoch}:{batch // 100:02},500 - INFO - epoch: {epoch}, batch_id: {batch}, "
        f"auc:0.682062, avg_reader_cost: 0.00037 sec, avg_batch_cost: {seconds:.5f} sec, "
        "avg_samples: 5120.00000, ips: 2698.71022 ins/s, loss: 0.506825"
    )


def test_records_have_steps_averages_and_times() -> None:
    run = read([ocr(10, 10, 0.75), ocr(18, 20, 0.8)])
    assert list(run.step) == [10, 20]
    assert list(run.seconds) == [0.75, 0.8]
    assert list(run.data) == [0.125, 0.125]
    assert list(run.wall) == [DAY_S + 10, DAY_S + 18]
    assert run.clock_resolution_s == 1.0


def test_iterations_of_an_epoch_are_counted_on() -> None:
    run = read([detection(0, 20, 0.9), detection(1, 20, 0.8)])
    assert list(run.step) == [20, 1582]
    assert list(run.seconds) == [0.9, 0.8]


def test_the_length_of_an_epoch_is_learnt_where_it_is_not_printed() -> None:
    lines = [rec(epoch, batch, 1.5) for epoch in range(2) for batch in range(0, 400, 100)]
    run = read(lines)
    assert list(run.step) == list(range(0, 800, 100))
    assert run.clock_resolution_s == 0.0


@pytest.mark.parametrize(
    ("text", "step", "seconds"),
    [
        ("[TRAIN] epoch: 3, iter: 21/80000, loss: 1, batch_cost: 0.25, reader_cost: 0.1", 21, 0.25),
        (
            "[TRAIN] epoch=3, iter=21/80000, loss=1, batch_cost=0.25, reader_cost=0.1, ips=9",
            21,
            0.25,
        ),
        ("epoch: [2/500], iter: 70, loss: 1.5, reader_cost: 0.1 s, batch_cost: 0.5 s,", 70, 0.5),
        ("[Epoch 1, iter: 40] lr: 0.1, avg_reader_cost: 0.1 sec, avg_batch_cost: 0.5 sec", 40, 0.5),
        ("[train] epoch: 0, batch: 7, loss: 10.9, avg_batch_cost: 0.71 sec, speed: 1.4", 7, 0.71),
        ("global step 90, epoch: 1, batch: 9, loss: 1, avg_batch_cost: 0.2 sec, ips: 9", 90, 0.2),
        ("epoch: [1/9], iter: [4/10], global_step:14, loss: 1, avg_batch_cost: 0.2 sec", 14, 0.2),
    ],
)
def test_every_member_of_the_family_is_read(text: str, step: int, seconds: float) -> None:
    assert Paddle.sniff(text)
    run = read([text])
    assert (list(run.step), list(run.seconds)) == ([step], [seconds])


def test_the_average_of_a_whole_epoch_is_not_taken_for_that_of_its_last_batches() -> None:
    line = (
        "[2026/01/01 00:00:10] ppcls INFO: [Train][Epoch 2/120][Iter: 10/312]lr(Cosine): 0.1, "
        "top1: 0.5, batch_cost: 0.50000s, reader_cost: 0.1, ips: 18 samples/s, eta: 1:02:03"
    )
    run = read([line])
    assert (list(run.step), list(run.wall)) == ([322], [DAY_S + 10])
    assert isnan(run.seconds_at(0))


def test_evaluations_saves_loads_and_launches_are_events() -> None:
    lines = [
        "[2026/01/01 00:00:01] ppocr INFO: train with paddle 2.6.1 and device Place(gpu:0)",
        "[2026/01/01 00:00:01] ppocr INFO: train with paddle 2.6.1 and device Place(gpu:1)",
        "[2026/01/01 00:00:02] ppocr INFO: resume from ./output/latest",
        ocr(10, 10, 0.75),
        "[2026/01/01 00:00:20] ppocr INFO: cur metric, acc: 0.5, fps: 1200",
        "[2026/01/01 00:00:21] ppocr INFO: save best model is to ./output/best_accuracy",
        ocr(28, 20, 0.75),
        "[2026/01/01 00:00:30] ppocr INFO: save model in ./output/latest",
    ]
    run = read(lines)
    assert events(run) == [
        (EventKind.START, 0, None),
        (EventKind.LOAD, 0, None),
        (EventKind.EVAL, 1, None),
        (EventKind.SAVE, 1, None),
        (EventKind.SAVE, 2, None),
    ]
    assert [end.wall for end in run.ends] == [DAY_S + 30]


def test_a_time_of_nan_is_unknown() -> None:
    assert isnan(read([ocr(10, 10, float("nan"))]).seconds[0])


@pytest.mark.parametrize(
    "line",
    [
        ocr(10, 10, 0.75)[:110],
        "batch_cost: 0.5",
        f"epoch: 1, batch_id: {'9' * 400}, batch_cost: 0.5",
        "Epoch: [0] [" * 5000 + "batch_cost: 0.5",
        "epoch: 1, batch_id: 2, batch_cost: fast",
    ],
)
def test_other_and_mangled_lines_are_no_records(line: str) -> None:
    assert not Paddle.sniff(line)
    assert not len(read([line]))


def video(step: int, seconds: float, phase: str = "train") -> str:
    return (
        f"[01/01 00:00:{step:02}] epoch:[  2/13 ] {phase} step:{step:<4} loss: 1.99536 lr: 0.0008 "
        f"batch_cost: {seconds:.5f} sec, reader_cost: 0.00178 sec, ips: 27.48816 instance/sec."
    )


def test_batches_of_an_evaluation_are_no_steps() -> None:
    clas = "[2026/01/01 00:00:40] ppcls INFO: [Eval][Epoch 1][Iter: 0/10]loss: 4.3, batch_cost: 9s"
    run = read([video(10, 0.25), video(0, 0.5, "val"), clas, video(20, 0.25)])
    assert list(run.step) == [10, 20]
    assert run.wall[1] - run.wall[0] == 10.0
    assert all(isnan(seconds) for seconds in run.seconds)
    assert events(run) == [(EventKind.EVAL, 1, None)]
    assert Paddle.sniff(video(10, 0.25))
    assert not Paddle.sniff(video(0, 0.5, "val"))
    assert not Paddle.sniff(clas)


def test_the_end_of_an_epoch_is_no_step() -> None:
    ends = "[01/01 00:00:30] END epoch:15   train loss_avg: 1.9 avg_batch_cost: 0.25 sec, ips: 9"
    assert list(read([video(10, 0.25), ends]).step) == [10]


def test_what_is_tried_after_the_training_is_an_evaluation() -> None:
    lines = [rec(0, batch, 1.5) for batch in range(100, 500, 100)]
    tried = rec(0, 0, 0.5).replace(", loss: 0.506825", "")
    loading = "2026-01-01 00:05:00,500 - INFO - start load model from output/0"
    run = read([*lines, loading, tried, tried, rec(1, 100, 1.5)])
    assert list(run.step)[:4] == [100, 200, 300, 400]
    assert len(run) == 5
    assert events(run) == [(EventKind.EVAL, 4, None)]


def test_the_first_batch_of_an_epoch_has_no_average() -> None:
    run = read([rec(0, 0, 0.003), rec(0, 100, 1.5)])
    assert isnan(run.seconds[0])
    assert run.seconds[1] == 1.5
