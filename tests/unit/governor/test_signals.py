"""What is made of a training's signs: steps, processes, a machine that is quiet or not."""

from __future__ import annotations

import pytest

from instride.governor import signals as module
from instride.governor.gauge import (
    Look,
)
from instride.governor.model import Step
from instride.governor.signals import PageSteps, Signals
from tests.unit.governor.scripted import Script


class Page:
    """Beats as a shared page has them."""

    def __init__(self) -> None:
        self.beats: list[tuple[int, float]] = []

    @property
    def num_beats(self) -> int:
        return len(self.beats)

    def beats_since(self, seen: int, num_beats: int) -> list[tuple[int, float]]:
        return self.beats[seen:num_beats]


def test_beats_become_steps_each_once() -> None:
    page = Page()
    source = PageSteps(page)
    page.beats += [(1, 10.0), (2, 10.5)]
    assert source.read(11.0) == [Step(10.5, 0.5, 0.5)]
    page.beats += [(3, 11.25)]
    assert source.read(12.0) == [Step(11.25, 0.75, 0.75)]
    assert source.read(13.0) == []


def signals(pids: list[int] | None, machine_is_busy: bool | None) -> tuple[Signals, Script]:
    source = Script()
    found = Signals(source, trainer_pids=lambda: pids)
    found._is_busy = lambda now_s: machine_is_busy  # type: ignore[method-assign]
    return found, source


def test_steps_that_come_in_say_that_training_runs() -> None:
    found, source = signals([], False)
    source.steps = [Step(99.0, 0.5, 0.5)]
    found.read(100.0)
    assert found.training(100.0) == "runs"


@pytest.mark.parametrize(
    ("pids", "is_busy", "expected"),
    [
        ([], True, "over"),
        ([1], False, "paused"),
        (None, True, "paused"),
        (None, False, "over"),
        (None, None, None),
    ],
)
def test_when_steps_stop_processes_and_the_machine_say_what_that_means(
    pids: list[int] | None, is_busy: bool | None, expected: str | None
) -> None:
    found, source = signals(pids, is_busy)
    source.steps = [Step(50.0, 0.5, 0.5)]
    found.read(50.0)
    assert found.training(52.0) == "runs"
    assert found.training(61.0) == expected


@pytest.mark.parametrize(
    ("pids", "is_busy", "expected"),
    [([], True, "over"), ([1], False, "runs"), (None, True, "runs"), (None, False, "over")],
)
def test_without_any_step_the_other_signs_count(
    pids: list[int] | None, is_busy: bool | None, expected: str
) -> None:
    found, _ = signals(pids, is_busy)
    assert found.training(100.0) == expected


@pytest.mark.parametrize(("pids", "expected"), [([], "over"), ([1], "runs")])
def test_the_end_of_all_processes_is_believed_sooner_than_silence(
    pids: list[int], expected: str
) -> None:
    found, source = signals(pids, False)
    source.steps = [Step(50.0, 0.5, 0.5)]
    found.read(50.0)
    assert found.training(53.0) == expected


def test_long_steps_may_stay_away_for_longer() -> None:
    found, source = signals([1], True)
    source.steps = [Step(100.0, 60.0, 60.0)]
    found.read(100.0)
    assert found.training(350.0) == "runs"
    assert found.training(450.0) == "paused"


def test_a_quiet_machine_is_told_from_one_that_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = [
        Look(0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        Look(1.0, 0.0, 0.0, 2.0, 2.0, 0.0),
        Look(6.0, 0.0, 0.0, 11.9, 12.0, 0.0),
        Look(12.0, 0.0, 0.0, 12.0, 24.0, 0.0),
        Look(18.0, 0.0, 0.0, 12.0, 36.0, 12.0),
    ]
    monkeypatch.setattr(module, "look", lambda: looks.pop(0))
    found = Signals()
    assert found.training(1.0) is None  # too early
    assert found.training(6.0) == "over"
    assert found.training(12.0) == "runs"
    assert found.training(18.0) == "over"  # all of that was this process itself


@pytest.mark.parametrize("was_busy", [True, False])
def test_what_a_machine_did_between_two_jobs_says_nothing_about_now(
    was_busy: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody looks then: an hour of rest is not held against a training that has just begun."""
    idle_s = [0.0, 3600.0, 7200.0]
    hours = [Look(3600.0 * hour, 0.0, 0.0, idle_s[hour], 7200.0 * hour, 0.0) for hour in range(3)]
    if was_busy:
        hours = [Look(each.at_s, 0.0, 0.0, 0.0, each.total_s, 0.0) for each in hours]
    last = hours[1]
    now_idle_s = (last.idle_s or 0.0) + (12.0 if was_busy else 0.0)
    looks = [hours[0], last, Look(3606.0, 0.0, 0.0, now_idle_s, 7212.0, 0.0)]
    monkeypatch.setattr(module, "look", lambda: looks.pop(0))
    found = Signals()
    assert found.training(3600.0) is None
    assert found.training(3606.0) == ("over" if was_busy else "runs")
