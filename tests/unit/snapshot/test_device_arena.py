"""What is kept of devices, when several threads ask for it."""

from __future__ import annotations

import threading

import pytest
import torch

from instride.snapshot.device_arena import DeviceArenas
from tests.unit.snapshot.pretended import FIRST, SECOND
from tests.unit.snapshot.saves import Saves

pytestmark = pytest.mark.torch


def test_a_handler_that_saves_may_interrupt_whoever_adds_a_device() -> None:
    """It comes from the same thread, and would wait for itself."""
    arenas = DeviceArenas()
    with arenas._lock:
        arenas.give_way()
        arenas.know_peak(is_known=True)


def test_of_each_device_there_is_one_also_if_two_ask_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As who prepares does, beside an early save."""
    is_making, go_on = threading.Event(), threading.Event()

    class Slow:
        def __init__(self, device: torch.device) -> None:
            is_making.set()
            go_on.wait(60)

    monkeypatch.setattr("instride.snapshot.device_arena.DeviceArena", Slow)
    arenas = DeviceArenas()
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(arenas.of(FIRST))) for _ in range(2)]
    threads[0].start()
    assert is_making.wait(60)
    is_making.clear()
    threads[1].start()
    is_made_twice = is_making.wait(0.1)
    go_on.set()
    for thread in threads:
        thread.join(60)
    assert not is_made_twice
    assert found == [arenas.of(FIRST)] * 2


def test_a_device_may_be_added_while_all_give_way(monkeypatch: pytest.MonkeyPatch) -> None:
    class Adding:
        def __init__(self, device: torch.device) -> None:
            self.memory = self

        def give_way(self) -> None:
            arenas.of(SECOND)

    monkeypatch.setattr("instride.snapshot.device_arena.DeviceArena", Adding)
    arenas = DeviceArenas()
    arenas.of(FIRST)
    arenas.give_way()
    assert arenas.of(SECOND) in arenas._all()


def test_a_device_is_made_ready_once(saves: Saves) -> None:
    """Whoever prepares again has nothing more launched."""
    saves.lock()
    arena = saves.arenas.of(FIRST)
    before = arena.stream.last
    arena.make_ready()
    assert arena.stream.last is before
