"""MXNet's Speedometer: speeds in samples, and what tells how many of them a batch has."""

from __future__ import annotations

from math import isnan

import pytest

from instride.steps.model import EventKind, Run
from instride.steps.notes import Note
from instride.steps.readers.mxnet import MXNet
from tests.unit.readers.drawing import read as read_as
from tests.unit.readers.reading import events

BATCH_SIZE = 128
ARGUMENTS = f"INFO:root:start with arguments Namespace(batch_size={BATCH_SIZE}, network='resnet')"


def read(lines: list[str]) -> Run:
    return read_as(MXNet, lines)


def record(epoch: int, batch: int, seconds: float, prefix: str = "INFO:root:") -> str:
    speed = BATCH_SIZE / seconds
    return f"{prefix}Epoch[{epoch}] Batch [{batch}]\tSpeed: {speed:.2f} samples/sec\taccuracy=0.01"


def at(seconds: float) -> str:
    return f"2026-01-01 00:{int(seconds) // 60:02}:{int(seconds) % 60:02},000 Node[0] "


def test_a_batch_takes_its_samples_over_the_speed() -> None:
    run = read([ARGUMENTS, record(0, 20, 0.25), record(0, 40, 0.5)])
    assert list(run.step) == [20, 40]
    assert list(run.seconds) == pytest.approx([0.25, 0.5], rel=1e-3)
    assert not run.notes


def test_the_batch_size_follows_from_the_clock() -> None:
    run = read([record(0, 20 * i, 0.25, at(5 * i)) for i in range(1, 10)])
    assert list(run.seconds) == pytest.approx([0.25] * 9, rel=1e-2)
    assert run.notes == [Note("batch-size", {"size": 128})]


def test_the_batch_size_follows_from_what_an_epoch_took() -> None:
    epoch = [record(0, batch, 0.25) for batch in range(20, 401, 20)]
    run = read([*epoch, "INFO:root:Epoch[0] Time cost=100.000", record(1, 20, 0.25)])
    assert list(run.seconds) == pytest.approx([0.25] * 21, rel=1e-2)


def test_a_log_that_does_not_tell_the_batch_size_is_said_to() -> None:
    run = read([record(0, 20, 0.25), record(0, 40, 0.25)])
    assert list(run.seconds) == pytest.approx([0.25 / BATCH_SIZE] * 2, rel=1e-3)
    assert run.notes == [Note("no-batch-size")]


@pytest.mark.parametrize(
    ("line", "step"),
    [
        ("INFO:root:Epoch[0] Batch [0-20]\tSpeed: 512.00 samples/sec\taccuracy=0.01", 20),
        ("INFO:root:Iter[0] Batch [20]\tSpeed: 512.00 samples/sec", 20),
        ("[Epoch 0][Batch 99], Speed: 512.000 samples/sec, CrossEntropy=3.1", 99),
    ],
)
def test_every_speedometer_is_read(line: str, step: int) -> None:
    assert MXNet.sniff(line)
    run = read([ARGUMENTS, line])
    assert (list(run.step), list(run.seconds)) == ([step], [0.25])


def test_the_speed_of_one_batch_is_not_taken_for_that_of_all_where_there_is_a_clock() -> None:
    lines = [
        f"{at(30 * i)}[Epoch 0][Batch {50 * i}], Speed: {9 - i}.125 samples/sec, CrossEntropy=3.1"
        for i in range(1, 6)
    ]
    run = read(lines)
    assert all(isnan(seconds) for seconds in run.seconds)
    assert run.wall[1] - run.wall[0] == 30.0
    assert not run.notes


def test_sockeye_tells_the_rate_of_its_updates() -> None:
    rates = "512.00 samples/sec 9000.10 tokens/sec 4.00 updates/sec"
    lines = [f"[INFO] Epoch[{e}] Batch [{50 * (e + 1)}]\tSpeed: {rates}" for e in range(3)]
    run = read(lines)
    assert list(run.step) == [50, 100, 150]
    assert list(run.seconds) == [0.25] * 3


def test_batches_are_counted_on_through_the_epochs() -> None:
    lines = [record(epoch, batch, 0.25) for epoch in range(2) for batch in (20, 40, 60)]
    assert list(read([ARGUMENTS, *lines]).step) == [20, 40, 60, 80, 100, 120]


def test_a_save_and_a_validation_end_when_they_are_printed() -> None:
    lines = [
        record(0, 20, 0.25, at(5)),
        record(0, 40, 0.25, at(10)),
        f"{at(12)}Epoch[0] Train-accuracy=0.98",
        f"{at(12)}Epoch[0] Time cost=12.000",
        f'{at(15)}Saved checkpoint to "model-0001.params"',
        f"{at(35)}Epoch[0] Validation-accuracy=0.99",
        f"{at(35)}Epoch[0] Validation-cross-entropy=0.01",
        record(1, 20, 0.25, at(41)),
    ]
    assert events(read(lines)) == [
        (EventKind.EPOCH, 2, None),
        (EventKind.SAVE, 2, 3.0),
        (EventKind.EVAL, 2, 20.0),
    ]


def test_without_a_clock_pauses_are_marked_only() -> None:
    lines = [
        ARGUMENTS,
        record(0, 20, 0.25),
        "INFO:root:[Epoch 0] time cost: 69.03",
        "INFO:root:[Epoch 0] validation: accuracy=0.29",
        record(1, 20, 0.25),
    ]
    assert events(read(lines)) == [
        (EventKind.START, 0, None),
        (EventKind.EPOCH, 1, None),
        (EventKind.EVAL, 1, None),
    ]


def test_a_speed_of_zero_is_unknown() -> None:
    run = read([ARGUMENTS, record(0, 20, 0.25).replace("512.00", "0.00")])
    assert list(run.step) == [20]
    assert isnan(run.seconds_at(0))


@pytest.mark.parametrize(
    "line",
    [
        record(0, 20, 0.25)[:40],
        "INFO:root:Batch [20]\tSpeed: 512.00 samples/sec",
        f"Epoch[{'9' * 400}] Batch [20]\tSpeed: 512.00 samples/sec",
        "Epoch[0] Batch [20]\tSpeed: nan samples/sec",
        "Epoch[0] Batch [" * 4000 + "Speed: ",
    ],
)
def test_other_and_mangled_lines_are_no_records(line: str) -> None:
    assert not MXNet.sniff(line)
    assert not len(read([line]))
