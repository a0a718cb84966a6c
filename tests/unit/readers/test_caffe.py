"""Caffe: glog's timestamps have no year; tests and snapshots come before their iteration."""

from __future__ import annotations

from math import isnan
from pathlib import Path

import pytest

from instride.explain.ledger import build
from instride.explain.spans import Owner
from instride.steps.model import EventKind, Run
from instride.steps.readers.caffe import Caffe
from instride.steps.reading import read_with
from instride.steps.source import Source
from tests.unit.readers.drawing import read as read_as
from tests.unit.readers.reading import events

LAUNCH = "Initializing solver from parameters: "


def read(lines: list[str]) -> Run:
    return read_as(Caffe, lines)


def said(at_s: float, text: str, place: str = "solver.cpp:228") -> str:
    hours, minutes, seconds = int(at_s) // 3600, int(at_s) // 60 % 60, at_s % 60
    return f"I0613 {hours:02}:{minutes:02}:{seconds:09.6f}  1860 {place}] {text}"


def record(at_s: float, step: int, more: str = "") -> list[str]:
    return [
        said(at_s, f"Iteration {step}{more}, loss = 8.89619"),
        said(at_s, "    Train net output #0: loss = 8.89 (* 1 = 8.89 loss)", "solver.cpp:244"),
        said(at_s, f"Iteration {step}, lr = 0.0995504", "sgd_solver.cpp:106"),
    ]


def snapshot(at_s: float, step: int) -> list[str]:
    model, state = f"./out/poly_iter_{step}.caffemodel", f"./out/poly_iter_{step}.solverstate"
    return [
        said(at_s, f"Snapshotting to binary proto file {model}", "solver.cpp:454"),
        said(at_s + 0.25, f"Snapshotting solver state to binary proto file {state}"),
    ]


def test_old_versions_have_timestamps_only() -> None:
    run = read([*record(1.0, 0), *record(401.5, 500)])
    assert list(run.step) == [0, 500]
    assert all(isnan(seconds) for seconds in run.seconds)
    assert run.wall[1] - run.wall[0] == 400.5
    assert run.clock_resolution_s == 0.0


def test_newer_versions_tell_the_time_of_an_interval() -> None:
    first, second = " (0 iter/s, 0.5s/100 iters)", " (4 iter/s, 25s/100 iters)"
    nvidia = " (4 iter/s, 50s/100 iters), 0.4/8.6ep"
    run = read([*record(1.0, 0, first), *record(26.0, 100, second), *record(76.0, 200, nvidia)])
    assert list(run.step) == [0, 100, 200]
    assert list(run.seconds) == [0.5, 0.25, 0.5]


def test_a_test_lasts_until_its_results_are_printed() -> None:
    lines = [
        *record(1.0, 0),
        said(400.0, "Iteration 500, Testing net (#0)", "solver.cpp:337"),
        said(420.0, "    Test net output #0: accuracy = 0.5", "solver.cpp:404"),
        said(420.0, "Iteration 500, Testing net (#1)", "solver.cpp:337"),
        said(430.0, "    Test net output #0: accuracy = 0.6", "solver.cpp:404"),
        said(430.5, "    Test net output #1: loss = 1.6", "solver.cpp:404"),
        *record(431.0, 500),
    ]
    run = read(lines)
    assert events(run) == [(EventKind.EVAL, 1, 30.5)]
    assert list(run.step) == [0, 500]


def test_a_snapshot_has_no_end_of_its_own() -> None:
    run = read([*record(1.0, 0), *snapshot(400.0, 500), *record(402.0, 500)])
    assert events(run) == [(EventKind.SAVE, 1, None)]
    assert [(event.step, event.line) for event in run.events] == [(500, 4)]


def test_a_snapshot_ends_where_a_test_begins() -> None:
    testing = said(412.5, "Iteration 500, Testing net (#0)")
    run = read([*record(1.0, 0), *snapshot(400.0, 500), testing, *record(440.0, 500)])
    assert events(run) == [(EventKind.SAVE, 1, 12.5), (EventKind.EVAL, 1, None)]


def test_the_last_snapshot_tells_that_its_iterations_are_done() -> None:
    lines = [line for i in range(10) for line in record(1.0 + 400 * i, 500 * i)]
    run = read([*lines, *snapshot(4001.0, 5000), said(4002.0, "Optimization Done.")])
    assert run.step[-1] == 5000
    assert run.wall[-1] - run.wall[-2] == 400.0
    assert events(run) == [(EventKind.SAVE, 11, None), (EventKind.END, 11, None)]
    spent = build(run).accounts
    assert spent[Owner.SAVE].seconds == pytest.approx(1.0)
    assert spent[Owner.COMPUTE].seconds == pytest.approx(4000.0, abs=1.5)


def test_a_resumed_training_is_a_new_process() -> None:
    lines = [
        said(0.5, LAUNCH),
        *record(1.0, 0),
        *record(401.0, 500),
        *snapshot(600.0, 750),
        said(700.0, LAUNCH),
        said(701.0, "Restoring previous solver status from poly_iter_750.solverstate"),
        *record(1000.0, 1000),
    ]
    run = read(lines)
    assert list(run.step) == [0, 500, 750, 1000]
    assert events(run) == [
        (EventKind.START, 0, None),
        (EventKind.SAVE, 3, None),
        (EventKind.START, 3, None),
        (EventKind.LOAD, 3, None),
    ]


def test_a_date_without_a_year_goes_on_over_midnight() -> None:
    late, early = record(86_390.0, 0)[0], record(5.0, 500)[0].replace("I0613", "I0614")
    run = read([late, early])
    assert run.wall[1] - run.wall[0] == 15.0


def test_a_loss_of_nan_is_a_record() -> None:
    assert list(read([record(1.0, 500)[0].replace("8.89619", "nan")]).step) == [500]


@pytest.mark.parametrize(
    "line",
    [
        record(1.0, 500)[2],
        said(1.0, "Iteration 500, Testing net (#0)"),
        said(1.0, "Iteration 500, lo"),
        f"Iteration {'9' * 400}, loss = 1.0",
        "Iteration 5 (1 iter/s, 2s/" * 2500,
    ],
)
def test_other_and_mangled_lines_are_no_records(line: str) -> None:
    assert not Caffe.sniff(line)
    assert not len(read([line]))


def test_a_real_log_is_flat_and_ends_with_a_snapshot(cases: Path) -> None:
    run = read_with(Caffe, [Source(str(cases / "caffe-squeezenet-snapshots.txt"))])
    assert list(run.step) == list(range(0, 200_001, 500))
    assert (run.wall[-1] - run.wall[0]) / 200_000 == pytest.approx(0.836, abs=0.002)
    saves = [event.step for event in run.events if event.kind is EventKind.SAVE]
    assert saves == [50_000, 100_000, 150_000, 200_000]
