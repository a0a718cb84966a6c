"""State on two GPUs. There is one at the most where tests run: memory of the host, by other names,
stands for both, and what copies off a device is only watched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import pytest
import torch

from instride.snapshot import copying
from instride.snapshot.arena import Arena
from instride.snapshot.blocks import cut
from instride.snapshot.copying import WholeCopy
from instride.snapshot.device_arena import DeviceArenas
from instride.snapshot.late import ChangedError
from instride.snapshot.planning import Plan
from tests.unit.snapshot.pretended import FIRST, HOST, KINDS, SECOND

pytestmark = pytest.mark.torch

PLACES = (FIRST, HOST, SECOND, SECOND, FIRST, HOST)


class Watched:
    """What is asked of the copy off one device."""

    made: ClassVar[dict[torch.device, Watched]] = {}

    def __init__(self, plan: Plan, arena: Arena, on_device: Any) -> None:
        self.asked: list[str] = []
        self.fails = False
        self.has_room = True
        self.arrives_in_order = True
        self.tells: list[int] = []
        self.made[on_device] = self

    def begin(self) -> None:
        self.asked.append("begin")

    def copy(self, promise: object) -> None:
        self.asked.append("copy")

    def fence(self) -> None:
        self.asked.append("fence")

    def drain(self, tell: Callable[[int], None]) -> None:
        self.asked.append("drain")
        for place in self.tells:
            tell(place)
        if self.fails:
            raise ChangedError("of this one")


def planned(arena: Arena) -> Plan:
    tensors = [torch.full((1000 + n,), 1.0 + n) for n in range(len(PLACES))]
    plan = Plan(tensors, detached=True)
    plan._devices = list(PLACES)
    plan.sources = [
        source.as_subclass(KINDS[place]) for source, place in zip(plan.sources, PLACES, strict=True)
    ]
    arena.grow(plan.layout.num_bytes)
    return plan


@pytest.fixture
def copy(arena: Arena, monkeypatch: pytest.MonkeyPatch) -> WholeCopy:
    monkeypatch.setattr(copying, "DeviceCopy", Watched)
    monkeypatch.setattr(DeviceArenas, "of", lambda arenas, device: device)
    monkeypatch.setattr(Watched, "made", {})
    return WholeCopy(planned(arena), arena, DeviceArenas())


def test_every_storage_lies_in_the_blocks_of_its_device_and_in_no_other(arena: Arena) -> None:
    plan = planned(arena)
    for device in (FIRST, SECOND):
        for block in cut(plan, arena.memory, device):
            for share in block.shares:
                assert share.source.device == device
                torch._foreach_copy_(*share.over_the_bus)
    for record, place, source in zip(plan.layout.records, PLACES, plan.sources, strict=True):
        there = arena.memory[record.data_offset : record.data_end]
        wanted = torch.zeros_like(there) if place == HOST else source.as_subclass(torch.Tensor)
        assert torch.equal(there, wanted)


def test_each_device_is_asked_for_its_own_and_the_host_is_copied_at_once(
    copy: WholeCopy, arena: Arena
) -> None:
    copy.begin()
    copy.copy(dict)
    copy.fence()
    copy.drain()
    assert list(Watched.made) == [FIRST, SECOND]
    for device in Watched.made.values():
        assert device.asked == ["begin", "copy", "fence", "drain"]
    plan = copy._plan
    for record, place, source in zip(plan.layout.records, PLACES, plan.sources, strict=True):
        there = arena.memory[record.data_offset : record.data_end]
        assert (place == HOST) == torch.equal(there, source.as_subclass(torch.Tensor))


def test_a_device_that_fails_keeps_no_optimizer_waiting_for_another_one(copy: WholeCopy) -> None:
    for failing in (FIRST, SECOND):
        for each in Watched.made.values():
            each.asked.clear()
            each.fails = False
        Watched.made[failing].fails = True
        with pytest.raises(ChangedError, match="of this one"):
            copy.drain()
        assert [each.asked for each in Watched.made.values()] == [["drain"], ["drain"]]


def test_one_device_without_room_is_enough_for_memory_to_be_locked(copy: WholeCopy) -> None:
    assert copy.has_room
    Watched.made[SECOND].has_room = False
    assert not copy.has_room


def test_one_device_that_does_not_arrive_in_order_is_enough_for_nothing_to_be_begun(
    copy: WholeCopy,
) -> None:
    assert copy.arrives_in_order
    Watched.made[SECOND].arrives_in_order = False
    assert not copy.arrives_in_order


@pytest.mark.parametrize(
    ("order", "expected"), [((FIRST, SECOND), [30, 40]), ((SECOND, FIRST), [10, 20])]
)
def test_all_is_there_up_to_the_nearest_place_that_a_device_has_come_to(
    order: tuple[torch.device, ...],
    expected: list[int],
    copy: WholeCopy,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Those of the first lie before those of the second: what the one that is ahead has brought
    counts when the other is there, too."""
    Watched.made[FIRST].tells = [10, 20]
    Watched.made[SECOND].tells = [30, 40]
    monkeypatch.setattr(copying, "together", lambda *jobs: [job() for job in jobs])
    copy._devices = [Watched.made[device] for device in order]  # type: ignore[misc]
    told: list[int] = []
    copy.drain(told.append)
    assert told == expected
