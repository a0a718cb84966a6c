"""What a GPU does stands in for steps that nobody tells of."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from instride.agent.configuration import Configuration
from instride.agent.pacing import Trainers
from instride.agent.pacing import signals as agent_signals
from instride.governor import gpu
from instride.governor import signals as module
from instride.governor.gpu import GpuGauge, is_unseen
from instride.governor.model import Step
from instride.governor.signals import Signals
from tests.unit.governor.scripted import Script


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
