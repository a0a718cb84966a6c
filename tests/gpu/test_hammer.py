"""The hammer sees what it is there for: what a snapshot relies on is taken away, one thing at a
time, and files are torn. Else the tests that find none would show nothing.
"""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
import torch

import instride
from instride.errors import SaveFailedError
from instride.snapshot.cuda import DeviceCopy
from instride.snapshot.device_arena import DeviceArena
from instride.snapshot.late import LateCopy, Storages
from tests.gpu.holding import Holder
from tests.gpu.trainings import (
    NEEDS_A_GPU,
    Adding,
    AddingUnseen,
    hammer,
    lock_arena,
    ones_to_add,
)

pytestmark = NEEDS_A_GPU

WHERE = ("room", "late")
PATIENCE_S = 60
TORN = r"^step \d+\.state\.weight"
"""What the hammer says of a file that has another moment."""


@pytest.fixture(params=WHERE)
def where(request: pytest.FixtureRequest) -> str:
    """Inside the memory of the device first, or over the bus while an optimizer waits."""
    if request.param == "late":
        request.getfixturevalue("no_room")
    return str(request.param)


class Counted:
    """A weight that each step adds one to, and nothing else: all of it may be late, and no save
    waits for the device because of anything else that there is to copy."""

    def __init__(self, kind: type[Adding] = Adding) -> None:
        weight = ones_to_add()
        self.optimizer = kind(weight)
        self.parts: dict[str, Any] = {"state": Holder(weight=weight), "optimizer": self.optimizer}


def test_with_all_that_it_relies_on_no_file_is_torn(where: str, tmp_path: Path) -> None:
    """And steps are queued at every other save, so that what comes too early would be seen."""
    counted = Counted()
    with instride.Saver(tmp_path, **counted.parts) as saver:
        counted.optimizer.step()
        lock_arena(saver)
        counted.optimizer.step()
        assert len(saver._beats._promise()()) == 1, "nothing would be late where there is no room"
        assert hammer(saver, counted.parts, counted.optimizer.step) > 0


def test_a_copy_that_does_not_wait_for_what_is_queued_is_seen(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Too early. The stream that brings a snapshot to the host takes no notice of the one that
    computes: it has the memory of the device before the snapshot was copied there, or the weight
    before the step. The copy is begun within some milliseconds of the call, by a thread or because
    the optimizer waits for it; what is queued takes the device many times as long."""
    make = DeviceArena.__init__

    def make_heedless(arena: DeviceArena, device: torch.device) -> None:
        make(arena, device)
        arena.stream.wait_event = lambda event: None

    monkeypatch.setattr(DeviceArena, "__init__", make_heedless)
    counted = Counted()
    is_seen = pytest.raises(AssertionError, match=TORN)
    with is_seen, instride.Saver(tmp_path, **counted.parts) as saver:
        for _ in range(2):  # of an optimizer that keeps nothing the second step shows the peak
            counted.optimizer.step()
        lock_arena(saver)  # and takes memory of the device: the driver may wait for it to be idle
        hammer(saver, counted.parts, counted.optimizer.step)


@pytest.mark.filterwarnings("ignore:instride:RuntimeWarning")
@pytest.mark.parametrize("kind", [Adding, AddingUnseen])
def test_a_step_that_does_not_wait_for_what_is_late_is_seen(
    kind: type[Adding], no_room: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Too late. Optimizers do not wait, and the copy is held until the step behind the call has
    been run by the device, so that it is not a matter of luck which of them is quicker. Where torch
    counts what the step wrote, the save fails and says so; where it does not, the file is torn."""
    has_stepped = threading.Event()
    begin, copy = LateCopy.begin, LateCopy._copy

    def begin_held(late: LateCopy, shares: list[Any], promised: Storages) -> None:
        has_stepped.clear()
        begin(late, shares, promised)

    def copy_held(late: LateCopy) -> None:
        assert has_stepped.wait(PATIENCE_S), "the optimizer waits after all"
        copy(late)

    monkeypatch.setattr(DeviceCopy, "fence", lambda device: None)
    monkeypatch.setattr(LateCopy, "begin", begin_held)
    monkeypatch.setattr(LateCopy, "_copy", copy_held)
    counted = Counted(kind)

    def step() -> None:
        counted.optimizer.step()
        torch.cuda.synchronize()
        has_stepped.set()

    is_seen = (
        pytest.raises(SaveFailedError, match="something wrote to a parameter")
        if kind is Adding
        else pytest.raises(AssertionError, match=TORN)
    )
    with is_seen, instride.Saver(tmp_path, **counted.parts) as saver:
        hammer(saver, counted.parts, step)
