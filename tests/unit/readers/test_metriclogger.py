"""MetricLogger: averages over a window, and the first iteration of an epoch alone."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from math import isnan
from pathlib import Path
from statistics import fmean, median

import pytest

from instride.explain.ledger import build
from instride.explain.spans import Owner
from instride.steps.model import EventKind, Run
from instride.steps.readers.metriclogger import MetricLogger
from instride.steps.reading import read_with
from instride.steps.source import Source
from tests.unit.readers.drawing import read as read_as
from tests.unit.readers.reading import events

NUM_ITERATIONS = 101


def read(lines: list[str]) -> Run:
    return read_as(MetricLogger, lines)


def record(
    place: str, seconds: float, data: float = 0.0002, gap: str = "  ", more: str = "max mem: 1163"
) -> str:
    loss = "loss: 10.7765 (10.8001)"
    fields = [place, "eta: 0:03:02", loss, f"time: {seconds:.6f}", f"data: {data:.6f}", more]
    return gap.join(fields)


def epoch_lines(epoch: int, seconds: list[float], data: list[float], every: int) -> Iterator[str]:
    """What is printed of an epoch whose iterations took so long."""
    times: deque[float] = deque(maxlen=20)
    waits: deque[float] = deque(maxlen=20)
    total = len(seconds)
    for index in range(total):
        times.append(seconds[index])
        waits.append(data[index])
        if index % every == 0 or index == total - 1:
            place = f"Epoch: [{epoch}/12]  [{index:4d}/{total}]"
            yield record(place, fmean(times), fmean(waits))
    yield f"Epoch: [{epoch}/12] Total time: 0:00:{int(sum(seconds)):02} (0.506737 s / it)"


def test_steps_count_on_through_the_epochs() -> None:
    lines = [
        record("Epoch: [0/100]  [   0/1562]", 8.1),
        record("Epoch: [0/100]  [1561/1562]", 0.5),
        record("Epoch: [1/100]  [   0/1562]", 4.1),
    ]
    run = read(lines)
    assert list(run.step) == [0, 1561, 1562]
    assert list(run.seconds) == [8.1, 0.5, 4.1]


@pytest.mark.parametrize(
    ("place", "step"),
    [
        ("Epoch: [3]  [ 20/100]", 320),
        ("Train Epoch: [3]  [ 20/100]", 320),
        ("Epoch: [3]\t[ 20/100]", 320),
        ("I20260102 03:04:05 77 dinov2 helpers.py:102] Training  [ 20/125000]", 20),
    ],
)
def test_every_copy_of_the_logger_is_read(place: str, step: int) -> None:
    line = record(place, 0.5, gap="\t" if "\t" in place else "  ")
    assert MetricLogger.sniff(line)
    assert list(read([line]).step) == [step]


def test_the_first_iteration_is_taken_out_of_the_averages_that_still_hold_it() -> None:
    seconds = [4.0] + [0.5] * (NUM_ITERATIONS - 1)
    data = [3.5] + [0.001] * (NUM_ITERATIONS - 1)
    run = read(list(epoch_lines(0, seconds, data, every=5)))
    assert run.seconds[0] == pytest.approx(4.0)
    assert list(run.seconds[1:]) == pytest.approx([0.5] * (len(run) - 1), abs=1e-4)
    assert list(run.data[1:]) == pytest.approx([0.001] * (len(run) - 1), abs=1e-4)


def test_a_slow_iteration_costs_what_it_took_although_two_records_share_it() -> None:
    seconds = [0.5] * NUM_ITERATIONS
    seconds[45] = 8.5
    run = read(list(epoch_lines(0, seconds, [0.0] * NUM_ITERATIONS, every=10)))
    assert sum(value - 0.5 for value in run.seconds) * 10 == pytest.approx(8.0, abs=0.01)


def test_the_first_iteration_of_another_epoch_is_not_taken_out() -> None:
    lines = [record("Epoch: [0]  [ 0/50]", 4.0), record("Epoch: [1]  [10/50]", 0.8)]
    assert list(read(lines).seconds) == [4.0, 0.8]


def test_an_evaluation_is_between_two_records_and_has_its_time() -> None:
    lines = [
        record("Epoch: [0]  [49/50]", 0.5),
        "Epoch: [0] Total time: 0:00:25 (0.5001 s / it)",
        record("Test:  [  0/310]", 0.3),
        record("Test:  [309/310]", 0.04),
        "Test: Total time: 0:00:12 (0.0400 s / it)",
        record("Epoch: [1]  [ 0/50]", 4.0),
    ]
    assert events(read(lines)) == [
        (EventKind.EPOCH, 1, None),
        (EventKind.EVAL, 1, pytest.approx(12.4)),
    ]


def test_the_time_of_an_evaluation_comes_on_top_of_the_loader_that_starts_after_it() -> None:
    lines: list[str] = []
    for epoch in range(3):
        seconds = [4.0] + [0.5] * (NUM_ITERATIONS - 1)
        lines += epoch_lines(epoch, seconds, [3.5] + [0.0] * (NUM_ITERATIONS - 1), every=10)
        lines += [record("Test:  [ 0/10]", 1.2), "Test: Total time: 0:00:12 (1.2000 s / it)"]
    accounts = build(read(lines)).accounts
    assert accounts[Owner.EVAL].seconds == pytest.approx(36.0, abs=0.1)
    assert accounts[Owner.DATA].seconds == pytest.approx(3 * 3.5, abs=0.2)
    assert accounts[Owner.UNKNOWN].seconds == 0.0


def test_launches_loads_and_ends_are_events() -> None:
    lines = [
        "| distributed init (rank 0): env://",
        "| distributed init (rank 1): env://",
        "Found checkpoint at ./checkpoint.pth",
        record("Epoch: [3]  [ 0/50]", 4.0),
        "Training time 1:02:03",
        "Not using distributed mode",
        record("Epoch: [0]  [ 0/50]", 4.0),
    ]
    assert events(read(lines)) == [
        (EventKind.START, 0, None),
        (EventKind.LOAD, 0, None),
        (EventKind.END, 1, None),
        (EventKind.START, 1, None),
    ]


def test_a_time_in_the_prefix_is_the_wall_clock() -> None:
    line = record("2026-01-01T00:00:07.5Z Epoch: [0]  [ 0/50]", 4.0)
    assert list(read([line]).wall) == [1_767_225_600.0 + 7.5]


def test_times_of_nan_are_unknown() -> None:
    nan = float("nan")
    run = read([record("Epoch: [0]  [ 0/50]", nan), record("Epoch: [0]  [10/50]", 0.5)])
    assert all(isnan(seconds) for seconds in run.seconds)


@pytest.mark.parametrize(
    "line",
    [
        record("Test:  [  0/310]", 0.3),
        record("Epoch: [0]  [ 0/50]", 4.0)[:60],
        "Epoch: [0] Total time: 0:00:25 (0.5001 s / it)",
        "Epoch: [0]  [ 0/50]  eta: " * 3000,
        f"Epoch: [{'9' * 400}]  [ 0/50]  eta: 0:00:01  time: 1.0  data: 1.0",
        "Epoch: [0]  [ 0/50]  eta: 0:00:01  model_time: 0.1 (0.1)",
    ],
)
def test_other_and_mangled_lines_are_no_records(line: str) -> None:
    assert not MetricLogger.sniff(line)
    assert not len(read([line]))


def test_a_real_log_has_a_slow_first_iteration_in_every_epoch(cases: Path) -> None:
    run = read_with(MetricLogger, [Source(str(cases / "dino-metriclogger.out"))])
    assert len(run) == 1772
    assert median(run.seconds) == pytest.approx(0.502, abs=0.002)
    slow = [step for step, seconds in zip(run.step, run.seconds, strict=True) if seconds > 0.7]
    assert slow == list(range(0, 17183, 1562))
