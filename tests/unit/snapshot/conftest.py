"""What tests of snapshots share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from instride.snapshot.arena import Arena
from instride.snapshot.ring import Ring
from tests.unit.snapshot.pretended import Driver, pretend
from tests.unit.snapshot.saves import Saves, make_small
from tests.unit.snapshot.simulated import Gpus
from tests.unit.snapshot.streams import SCHEDULES


@pytest.fixture
def arena(request: pytest.FixtureRequest) -> Iterator[Arena]:
    """One that leaves nothing locked, where a driver is pretended."""
    made = Arena()
    yield made
    made.close()
    if "driver" in request.fixturenames:
        assert request.getfixturevalue("driver").locked == {}


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    return pretend(monkeypatch)


@pytest.fixture
def ring(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ring]:
    make_small(monkeypatch)
    made = Ring()
    yield made
    made.close()
    assert driver.locked == {}


@pytest.fixture(params=SCHEDULES)
def gpus(
    request: pytest.FixtureRequest, driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Gpus]:
    """Simulated, by each of the schedules."""
    made = Gpus(driver, SCHEDULES[request.param]())
    made.install(monkeypatch)
    make_small(monkeypatch)
    monkeypatch.setattr("instride.snapshot.device_arena.gatherer_for", lambda device: None)
    # Threads that share the work of one copy wait for each other, where others want the cores.
    num_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield made
    torch.set_num_threads(num_threads)


@pytest.fixture
def saves(gpus: Gpus, arena: Arena) -> Iterator[Saves]:
    made = Saves(gpus, arena)
    yield made
    made.close()


@pytest.fixture(params=["room for a part", "no room"])
def late(request: pytest.FixtureRequest, saves: Saves) -> Saves:
    """Where what was promised is late."""
    saves.lock()
    saves.find_room(request.param)
    return saves
