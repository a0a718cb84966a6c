"""OpenNMT-py: timestamps or elapsed seconds, evaluation and save after the record."""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan

import pytest

from instride.steps.model import EventKind, Run
from instride.steps.readers.opennmt import OpenNMT
from tests.unit.readers.reading import run_of


def read(lines: Iterable[str]) -> Run:
    return run_of(OpenNMT, lines)


def record(step: int, elapsed: int) -> str:
    return (
        f"Step {step}/100000; acc:  12.34; ppl: 812.12; xent: 6.70; lr: 0.00010; "
        f"6112/5950 tok/s; {elapsed:6} sec"
    )


def stamped(seconds: float, text: str) -> str:
    minutes, rest = divmod(seconds, 60)
    whole, part = divmod(rest, 1)
    return f"[2026-01-02 03:{int(minutes):02}:{int(whole):02},{round(part * 1000):03} INFO] {text}"


def test_timestamps_are_the_wall_clock() -> None:
    run = read(stamped(10.25 * i, record(50 * i, 10 * i)) for i in range(1, 5))
    assert list(run.step) == [50, 100, 150, 200]
    assert [wall - run.wall[0] for wall in run.wall] == pytest.approx([0, 10.25, 20.5, 30.75])
    assert run.clock_is_absolute
    assert all(isnan(seconds) for seconds in run.seconds)


def test_without_timestamps_the_elapsed_seconds_are_the_clock_of_the_process() -> None:
    run = read(record(50 * i, 11 * i) for i in range(1, 4))
    assert list(run.wall) == [11, 22, 33]
    assert not run.clock_is_absolute
    assert run.clock_resolution_s == 1.0


@pytest.mark.parametrize(
    "line",
    [
        "Step 50/100000; acc: 12.3; ppl: 812.1; xent: 6.7; lr: 0.00010; sents:    3151; "
        "bsz: 3200/3100/63; 6112/5950 tok/s;     11 sec;",
        "Step 50; acc:  12.34; ppl: 812.12; xent: 6.70; lr: 0.00010; 6112/5950 tok/s;     11 sec",
        "Step 50/50000; xent: 10.56; lr: 0.0000001;  10 docs/s;     11 sec",
        "Step 50/  500; acc(token): 12.34; ppl: 8.12; xent: 6.70; lr: 0.00010; 61/59 tok/s; 11 sec",
    ],
)
def test_older_and_newer_versions_are_read(line: str) -> None:
    run = read([line])
    assert OpenNMT.sniff(line)
    assert (run.step[0], run.wall[0]) == (50, 11)


def test_an_evaluation_adds_up_the_parts_that_the_log_states() -> None:
    run = read(
        [
            stamped(10, record(50, 10)),
            stamped(12.5, "valid stats calculation"),
            "                           took: 2.5 s.",
            stamped(14, "translation of valid dataset"),
            "                           took: 1.5 s.",
            stamped(14, "Validation perplexity: 31.2"),
            stamped(14, "Validation accuracy: 41.7"),
            stamped(14.2, "Saving checkpoint run/model_step_50.pt"),
            stamped(25, record(100, 25)),
        ]
    )
    assert [(event.kind, event.at, event.seconds) for event in run.events] == [
        (EventKind.EVAL, 1, 4.0),
        (EventKind.SAVE, 1, None),
    ]


def test_what_takes_long_outside_of_an_evaluation_is_not_added() -> None:
    run = read([record(50, 10), "building the vocabulary took: 99 s.", record(100, 20)])
    assert run.events == []


def test_a_resumed_run_starts_and_loads() -> None:
    run = read(
        [
            stamped(0, "Loading checkpoint from run/model_step_50.pt"),
            stamped(5, "Starting training on GPU: [0]"),
            stamped(5, "Start training loop and validate every 10000 steps..."),
            stamped(20, record(100, 15)),
        ]
    )
    assert [event.kind for event in run.events] == [EventKind.LOAD, EventKind.START]
    assert run.first_clock is not None
    assert run.wall[0] - run.first_clock.wall == 20


def test_damaged_records_are_not_read() -> None:
    whole = record(50, 11)
    lines = [whole[:30], whole[:-4], whole.replace("11 sec", "1x1 sec"), whole.replace("50/", "/")]
    assert len(read(lines)) == 0
