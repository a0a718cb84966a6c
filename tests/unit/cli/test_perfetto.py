"""The trace for timeline viewers: valid, complete, and small enough to open."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from instride.cli.render.perfetto import write_perfetto
from instride.explain.explaining import Explanation, explain
from instride.steps.model import EventKind
from instride.steps.source import Source
from tests.unit.cli.runs import STORIES, explained
from tests.unit.explain.making import Training, jitter

Event = dict[str, Any]


def traced(explanation: Explanation, folder: Path) -> list[Event]:
    path = folder / "trace.json"
    write_perfetto(explanation, path)
    trace = json.loads(path.read_text(encoding="utf-8"))
    assert set(trace) == {"displayTimeUnit", "otherData", "traceEvents"}
    events: list[Event] = trace["traceEvents"]
    return events


def complete(events: list[Event]) -> list[Event]:
    return [event for event in events if event["ph"] == "X"]


def track_names(events: list[Event]) -> dict[int, str]:
    return {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}


@pytest.mark.parametrize("name", sorted(STORIES))
def test_every_event_is_valid_and_nothing_overlaps_on_a_track(name: str, tmp_path: Path) -> None:
    explanation = explained(name, tmp_path)
    events = traced(explanation, tmp_path)
    assert {event["ph"] for event in events} == {"M", "X", "C"}
    wall_us = 1e6 * explanation.ledger.wall_s
    ends: dict[int, float] = {}
    for event in sorted(complete(events), key=lambda e: (e["tid"], e["ts"])):
        assert event["ts"] >= ends.get(event["tid"], 0.0) - 0.01, event
        assert event["dur"] >= 0
        ends[event["tid"]] = event["ts"] + event["dur"]
    assert max(ends.values()) <= wall_us * (1 + 1e-6)
    assert set(ends) <= set(track_names(events))


@pytest.mark.parametrize("name", ["eval-0", "save-0", "aftermath-1", "startup-0", "restart-0"])
def test_an_owner_has_its_seconds_on_its_own_track(name: str, tmp_path: Path) -> None:
    explanation = explained(name, tmp_path)
    owner = name.rsplit("-", 1)[0]
    events = traced(explanation, tmp_path)
    names = track_names(events)
    found = [event for event in complete(events) if names[event["tid"]] == owner]
    costs = [event["args"]["cost_s"] if "args" in event else event["dur"] / 1e6 for event in found]
    account = next(a for o, a in explanation.ledger.accounts.items() if o.value == owner)
    assert sum(costs) == pytest.approx(account.seconds)


def test_each_process_is_a_stretch_with_its_steps(tmp_path: Path) -> None:
    events = traced(explained("restart-0", tmp_path), tmp_path)
    stretches = [event for event in complete(events) if event["name"].startswith("process ")]
    assert [event["args"] for event in stretches] == [
        {"first_step": 1, "last_step": 101},
        {"first_step": 102, "last_step": 401},
    ]


def test_the_counter_has_the_time_of_every_step(tmp_path: Path) -> None:
    events = traced(explained("slow-steps-0", tmp_path), tmp_path)
    counted = [event["args"]["ms"] for event in events if event["ph"] == "C"]
    assert len(counted) == 300
    assert counted[99] == pytest.approx(9000)
    assert counted[98] == pytest.approx(1000)


@pytest.mark.parametrize("num_steps", [100_000, 300_000])
def test_a_long_log_makes_a_trace_that_can_still_be_opened(tmp_path: Path, num_steps: int) -> None:
    training = Training()
    take = jitter(0.123456789, 0.01)
    for _ in range(100):
        training.pause(EventKind.EVAL, 5.0)
        training.train(num_steps // 100, take)
    log = tmp_path / "train.log"
    log.write_text("iter\n")
    events = traced(explain(training.finish(), [Source(str(log))]), tmp_path)
    assert (tmp_path / "trace.json").stat().st_size < 30_000_000
    steps = [event for event in complete(events) if event["name"].startswith("step")]
    assert 90_000 < len(steps) <= 100_200
    assert sum(event["name"] == "eval" for event in complete(events)) >= 99
