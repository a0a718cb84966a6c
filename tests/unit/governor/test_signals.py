"""What is made of a training's signs: steps, processes, a machine that is quiet or not."""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path

import pytest

from instride.agent.configuration import Configuration
from instride.agent.pacing import Trainers
from instride.agent.pacing import signals as agent_signals
from instride.governor import gpu
from instride.governor import signals as module
from instride.governor.gauge import (
    Look,
    busy_cores_of_others,
    look,
    strain,
    waited_for_a_core_s,
)
from instride.governor.gpu import GpuGauge, is_unseen
from instride.governor.model import Step
from instride.governor.signals import PageSteps, Signals
from instride.governor.spare_cores import IdleWatch, idle_cores, read_ticks, spare_of


class Page:
    """Beats as a shared page has them."""

    def __init__(self) -> None:
        self.beats: list[tuple[int, float]] = []

    @property
    def num_beats(self) -> int:
        return len(self.beats)

    def beats_since(self, seen: int, num_beats: int) -> list[tuple[int, float]]:
        return self.beats[seen:num_beats]


class Script:
    """A source that gives what it is told to."""

    resolution_s = 0.0

    def __init__(self) -> None:
        self.steps: list[Step] = []

    def read(self, now_s: float) -> list[Step]:
        steps, self.steps = self.steps, []
        return steps


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


def test_what_others_wait_for_is_a_share_of_the_time() -> None:
    before = Look(10.0, 1.0, 2.0, 5.0, 20.0, 0.0)
    after = Look(14.0, 2.0, 2.0, 6.0, 28.0, 1.0)
    seen = strain(before, after)
    assert (seen.io, seen.memory) == (0.25, 0.0)
    assert seen.idle_cores == 0.25
    assert busy_cores_of_others(before, after) == pytest.approx((8 - 1 - 1) / 4)


def test_this_machine_can_be_looked_at() -> None:
    seen = look()
    assert seen.total_s is not None
    assert seen.idle_s is not None
    assert 0 < seen.idle_s <= seen.total_s
    assert set(read_ticks()) >= os.sched_getaffinity(0)


def test_cores_are_spare_only_where_others_are_busy() -> None:
    before = {0: (0, 0), 1: (0, 0), 2: (0, 0)}
    assert spare_of(before, {0: (5, 100), 1: (95, 100), 2: (50, 100)}) == {1}
    assert spare_of(before, {0: (99, 100), 1: (98, 100), 2: (97, 100)}) == set()
    assert spare_of(before, {0: (1, 100), 1: (2, 100), 2: (3, 100)}) == set()
    assert spare_of({}, {0: (1, 100)}) == set()


def test_parts_of_cores_that_idle_are_added_up() -> None:
    before = {0: (0, 0), 1: (0, 0)}
    assert idle_cores(before, {0: (10, 100), 1: (40, 100)}) == pytest.approx(0.5)
    assert idle_cores(before, {0: (0, 100), 1: (0, 100)}) == 0
    assert idle_cores({}, {0: (0, 100)}) == math.inf  # nobody can tell


def test_a_machine_has_idled_if_it_did_since_the_last_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = [100.0]
    monkeypatch.setattr("instride.governor.spare_cores.time.monotonic", lambda: now_s[0])

    def ticks(busy: int, idle: int) -> None:
        # What the second core does is none of our business: we may not run there.
        (tmp_path / "stat").write_text(
            f"cpu  1 2 3\ncpu0 {busy} 0 0 {idle} 0 0 0 0\ncpu1 0 0 0 {busy + idle} 0 0 0 0\n"
        )

    monkeypatch.setattr("instride.governor.spare_cores.os.sched_getaffinity", lambda _: {0})
    ticks(0, 0)
    watch = IdleWatch(tmp_path)
    assert watch.has_idled()  # not known yet
    ticks(1000, 0)
    now_s[0] += 1
    assert not watch.has_idled()
    ticks(1000, 1000)
    assert not watch.has_idled()  # too soon to tell
    now_s[0] += 1
    assert watch.has_idled()
    (tmp_path / "stat").unlink()
    now_s[0] += 1
    assert watch.has_idled()


def test_counters_that_nobody_keeps_are_no_error(tmp_path: Path) -> None:
    seen = look(tmp_path)
    assert (seen.io_s, seen.memory_s, seen.idle_s) == (None, None, None)
    assert read_ticks(tmp_path) == {}


class Gpu:
    def __init__(self, share: float | None) -> None:
        self.share = share

    def busiest(self) -> float | None:
        return self.share


def test_a_gpu_that_computes_less_of_the_time_is_slower_steps() -> None:
    gpu = Gpu(1.0)
    found = Signals(gpu=gpu)
    assert found.read(10.0) == [Step(10.0, 1.0, 1.0)]
    assert found.read(10.5) == []
    gpu.share = 0.5
    assert found.read(11.0) == [Step(11.0, 2.0, 1.0)]
    assert found.training(11.0) == "runs"


@pytest.mark.parametrize("share", [None, 0.0, 0.01])
def test_a_gpu_that_does_nothing_or_does_not_say_is_no_step(share: float | None) -> None:
    assert Signals(gpu=Gpu(share)).read(10.0) == []


def test_steps_of_a_log_come_before_those_of_a_gpu() -> None:
    source = Script()
    source.steps = [Step(9.0, 0.2, 0.2)]
    assert Signals(source, gpu=Gpu(1.0)).read(10.0) == [Step(9.0, 0.2, 0.2)]


def test_a_gpu_stands_in_for_a_log_that_says_nothing_until_it_does() -> None:
    log = Script()
    found = Signals(log, gpu=Gpu(0.5))
    assert found.read(10.0) == []  # a log may need a moment
    assert found.num_sources == 0
    assert found.read(10.0 + module.PATIENCE_S) == [Step(20.0, 2.0, 1.0)]
    assert found.resolution_s > 0
    log.steps = [Step(21.0, 0.2, 0.2)]
    assert found.read(21.5) == [Step(21.0, 0.2, 0.2)]
    assert (found.num_sources, found.span_s, found.resolution_s) == (2, 0.2, 0.0)
    assert found.read(30.0) == []  # a GPU is not asked any more


def test_without_a_driver_a_gauge_says_nothing() -> None:
    share = GpuGauge().busiest()
    assert share is None or 0.0 <= share <= 1.0


FAKE_DRIVER = """
class NVMLError(Exception):
    pass

class Rates:
    def __init__(self, gpu):
        self.gpu = gpu

def nvmlInit():
    if {is_absent}:
        raise NVMLError("Driver Not Loaded")

def nvmlDeviceGetCount():
    return 3

def nvmlDeviceGetHandleByIndex(index):
    return index

def nvmlDeviceGetUtilizationRates(handle):
    if handle == 0:
        raise NVMLError("Not Supported")
    return Rates(40 * handle)
"""


@pytest.mark.parametrize(("is_absent", "expected"), [(False, 0.8), (True, None)])
def test_the_agent_asks_the_driver_for_the_busiest_gpu(
    is_absent: bool, expected: float | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pynvml.py").write_text(FAKE_DRIVER.format(is_absent=is_absent))
    monkeypatch.setitem(sys.modules, "pynvml", None)  # so that what was there comes back
    del sys.modules["pynvml"]
    monkeypatch.syspath_prepend(tmp_path)
    found = agent_signals(Configuration(), Trainers())
    steps = found.read(100.0)
    assert steps == ([] if expected is None else [Step(100.0, 1 / expected, 1.0)])
    assert found.has_steps(100.0) is (expected is not None)


def test_a_gpu_that_nothing_can_ask_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not is_unseen(tmp_path / "absent")
    monkeypatch.setattr(gpu, "find_spec", lambda name: None)
    assert is_unseen(tmp_path)


def test_a_thread_knows_how_long_it_waited_for_a_core(tmp_path: Path) -> None:
    assert waited_for_a_core_s() >= 0.0
    assert waited_for_a_core_s(tmp_path) == 0.0
    (tmp_path / "thread-self").mkdir()
    (tmp_path / "thread-self/schedstat").write_text("494044 1500000000 2\n")
    assert waited_for_a_core_s(tmp_path) == 1.5
