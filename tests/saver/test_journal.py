"""The journal that a real training leaves, and what explain makes of it."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
import torch

import instride
from instride.explain.explaining import explain
from instride.explain.spans import Told
from instride.steps.choosing import choose
from instride.steps.model import EventKind, Run
from instride.steps.reading import read_with

pytestmark = pytest.mark.torch


def lines_of(directory: Path) -> list[dict[str, Any]]:
    text = (directory / ".instride" / "journal.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def run_of(directory: Path) -> Run:
    choice = choose([str(directory)], None, [])
    assert choice.reader.dialect.name == "journal"
    return read_with(choice.reader, choice.sources)


def train(saver: instride.Saver, steps: range, every: int) -> None:
    for step in steps:
        if saver.due(step, every=every):
            saver.save(step, metric=1.0).wait(60)


def saves_of(run: Run) -> list[tuple[int | None, int]]:
    return [(e.step, run.step[e.at - 1]) for e in run.events if e.kind is EventKind.SAVE]


def test_every_step_and_every_save_is_in_its_place(tmp_path: Path) -> None:
    with instride.Saver(tmp_path, model=torch.nn.Linear(2, 2)) as saver:
        train(saver, range(100), 20)

    run = run_of(tmp_path)

    assert list(run.step) == list(range(100))
    assert saves_of(run) == [(step, step) for step in (20, 40, 60, 80)]
    assert all(event.seconds for event in run.events if event.kind is EventKind.SAVE)


def test_lines_are_in_the_order_of_time_and_the_start_comes_first(tmp_path: Path) -> None:
    with instride.Saver(tmp_path, model=torch.nn.Linear(2, 2)) as saver:
        train(saver, range(30), 10)

    lines = lines_of(tmp_path)

    assert lines[0]["kind"] == "start"
    kinds = {line["kind"] for line in lines}
    assert {"step", "call", "durable", "verified", "end"} <= kinds


def test_a_resumed_training_is_a_second_process(tmp_path: Path) -> None:
    for _ in range(2):
        with instride.Saver(tmp_path, model=torch.nn.Linear(2, 2)) as saver:
            start = saver.restore()
            train(saver, range(start, start + 50), 20)

    run = run_of(tmp_path)

    assert [event.at for event in run.events if event.kind is EventKind.START] == [0, 50]
    assert list(run.step) == [*range(50), *range(41, 91)]
    assert saves_of(run) == [(step, step) for step in (20, 40, 60, 80)]


def test_a_writer_that_dies_takes_no_step_with_it_and_doubles_none(tmp_path: Path) -> None:
    with instride.Saver(tmp_path, model=torch.nn.Linear(2, 2)) as saver:
        train(saver, range(50), 20)
        (start,) = _await(tmp_path, "start")
        os.kill(start["writer_pid"], signal.SIGKILL)
        train(saver, range(50, 100), 20)

    run = run_of(tmp_path)

    assert list(run.step) == list(range(100))
    assert saves_of(run) == [(step, step) for step in (20, 40, 60, 80)]


def _await(directory: Path, kind: str) -> list[dict[str, Any]]:
    """Lines of a kind; the journal is written once a second."""
    path = directory / ".instride" / "journal.jsonl"
    while not path.exists() or not (found := [x for x in lines_of(directory) if x["kind"] == kind]):
        os.sched_yield()
    return found


def test_explain_states_what_saves_cost(tmp_path: Path) -> None:
    with instride.Saver(tmp_path, model=torch.nn.Linear(2, 2)) as saver:
        train(saver, range(200), 50)
    choice = choose([str(tmp_path)], None, [])

    ledger = explain(read_with(choice.reader, choice.sources), choice.sources).ledger

    stated = sum(line["s"] for line in lines_of(tmp_path) if line["kind"] == "call")
    told = [span.extra_s for span in ledger.spans if span.told is Told.STATED]
    assert len(told) == 3
    assert sum(told) == pytest.approx(stated, abs=1e-4)
