"""Whether a GPU still has work to do, as far as somebody who asks is told of steps."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
import torch

from instride.snapshot.backlog import Backlog
from tests.unit.snapshot.pretended import Driver, Event

pytestmark = pytest.mark.torch

GPU = torch.device("cuda", 0)


@pytest.fixture
def backlog(driver: Driver) -> Iterator[Backlog]:
    """One that somebody watches."""
    made = Backlog()
    with made.watched(GPU):
        yield made


def test_steps_that_nobody_asks_for_are_not_marked(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Event, "record", lambda self: pytest.fail("a step was marked"))
    backlog = Backlog()
    backlog.mark()
    with backlog.watched(GPU):
        pass
    backlog.mark()

    assert not backlog.is_left
    assert not backlog.await_some(0.0)


def test_what_was_launched_is_left_until_it_is_over(
    backlog: Backlog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Event, "has_arrived", False)
    seen = [backlog.is_left]  # no step was launched yet, as far as it knows
    backlog.mark()
    seen += [backlog.is_left, backlog.await_some(0.0)]
    monkeypatch.setattr(Event, "has_arrived", True)
    seen.append(backlog.is_left)

    assert seen == [False, True, True, False]


def test_a_step_that_is_captured_tells_nothing(
    backlog: Backlog, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What marks it would become a part of the graph."""
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
    monkeypatch.setattr(Event, "has_arrived", False)
    backlog.mark()

    assert not backlog.is_left


@pytest.mark.parametrize("name", ["record", "query"])
def test_a_gpu_that_fails_fails_nobody_by_this(
    name: str, backlog: Backlog, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(event: Event) -> bool:
        raise RuntimeError("CUDA error: device-side assert triggered")

    monkeypatch.setattr(Event, name, fail)
    backlog.mark()
    backlog.mark()

    assert not backlog.is_left
    assert not backlog.await_some(0.0)


def test_whoever_waits_launches_nothing(backlog: Backlog) -> None:
    """Several may, as the optimizers of two GPUs, and each to its own end."""
    first, second = backlog.training_waits(), backlog.training_waits()
    seen = [backlog.is_left]
    first.__enter__()
    second.__enter__()
    seen.append(backlog.await_some(0.0))
    first.__exit__(None, None, None)
    seen.append(backlog.is_left)
    second.__exit__(None, None, None)
    seen.append(backlog.is_left)

    assert seen == [False, True, True, False]


def test_a_wait_that_is_interrupted_is_over(
    backlog: Backlog, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(mark: None) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(backlog, "_marks", SimpleNamespace(put=interrupt))
    with pytest.raises(KeyboardInterrupt), backlog.training_waits():
        pass

    assert not backlog.is_left


def test_whoever_waits_for_a_step_is_woken_by_it(
    backlog: Backlog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Event, "has_arrived", False)
    marking = threading.Timer(0.05, backlog.mark)
    marking.start()
    start_s = time.monotonic()

    assert backlog.await_some(60)
    assert 0.04 < time.monotonic() - start_s < 30
    marking.join()


def test_steps_that_are_over_at_once_keep_nobody_waiting_for_ever(backlog: Backlog) -> None:
    """A loop that launches no faster than the GPU works leaves it no backlog."""
    is_over = threading.Event()

    def train() -> None:
        while not is_over.wait(0.001):
            backlog.mark()

    training = threading.Thread(target=train)
    training.start()
    start_s = time.monotonic()
    assert not backlog.await_some(0.1)
    assert 0.1 <= time.monotonic() - start_s < 30
    is_over.set()
    training.join()
