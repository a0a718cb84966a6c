"""A snapshot is the state at the call, whatever is queued before and behind it, and in whatever
order the streams of a GPU do that."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
import torch

from instride.snapshot.arena import Arena
from instride.snapshot.crossing import NUM_IN_FLIGHT
from tests.unit.snapshot.pretended import FIRST, SECOND
from tests.unit.snapshot.saves import LOCKED, ROOMS, Saves, nothing_promised, while_it_crosses
from tests.unit.snapshot.simulated import Gpus, bytes_of

pytestmark = pytest.mark.torch


@pytest.mark.parametrize("locked", LOCKED)
@pytest.mark.parametrize("room", ROOMS)
def test_all_is_as_it_was_at_the_call(room: str, locked: str, saves: Saves) -> None:
    saves.lock(locked)
    saves.find_room(room)
    saves.take(1)
    saves.copy.drain()
    assert saves.torn(1) == []
    assert saves.torn_in_the_end(1) == []


@pytest.mark.parametrize("gpus", ["as late as possible"], indirect=True)
@pytest.mark.parametrize("locked", LOCKED)
@pytest.mark.parametrize("room", ROOMS)
def test_only_what_lies_whole_on_the_device_and_leaves_by_the_ring_arrives_in_order(
    room: str, locked: str, saves: Saves
) -> None:
    saves.lock(locked)
    saves.find_room(room)
    saves.take(1)
    assert saves.copy.arrives_in_order == (room == "room for all" and locked in LOCKED[2:])
    saves.copy.drain()


@pytest.mark.parametrize("room", ROOMS)
def test_what_another_stream_writes_is_copied_behind_it_and_before_it_writes_again(
    room: str, saves: Saves
) -> None:
    saves.lock()
    saves.find_room(room)
    computes, writes = saves.gpus.current_stream(), saves.gpus.new_stream(FIRST)
    with saves.gpus.on_stream(writes):
        saves.write(1)
    computes.wait_stream(writes)
    saves.copy.copy(nothing_promised)
    writes.wait_stream(computes)
    with saves.gpus.on_stream(writes):
        saves.write(1001)
    saves.copy.drain()
    assert saves.torn_in_the_end(1) == []


@pytest.mark.parametrize("room", ROOMS)
def test_a_step_on_a_stream_of_its_own_is_copied_in_its_order(room: str, saves: Saves) -> None:
    saves.lock()
    saves.find_room(room)
    with saves.gpus.on_stream(saves.gpus.new_stream(FIRST)):
        saves.take(1)
    saves.copy.drain()
    assert saves.torn_in_the_end(1) == []


@pytest.mark.parametrize("room", ROOMS)
def test_a_kernel_copies_in_the_order_of_the_stream_that_computes(room: str, saves: Saves) -> None:
    saves.lock("the ring is")
    saves.find_room(room)
    saves.gather()
    saves.take(1)
    saves.copy.drain()
    assert saves.torn_in_the_end(1) == []


@pytest.mark.parametrize("gpus", ["as late as possible"], indirect=True)
def test_few_pieces_are_under_way_at_a_time(saves: Saves, monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop that synchronizes in every step waits for all of them."""
    lengths: list[int] = []
    copy = torch._foreach_copy_

    def note_and_copy(*given: Any, **how: Any) -> None:
        lengths.append(len(saves.arenas.of(FIRST).stream.tasks))
        copy(*given, **how)

    saves.lock()
    saves.take(1)
    monkeypatch.setattr(torch, "_foreach_copy_", note_and_copy)
    saves.copy.drain()
    assert len(lengths) > 10
    assert max(lengths) <= 1 + 2 * NUM_IN_FLIGHT  # an event before all, and one behind each


@pytest.mark.parametrize("gpus", ["as late as possible"], indirect=True)
@pytest.mark.parametrize("locked", LOCKED)
@pytest.mark.parametrize("room", ROOMS)
def test_nothing_that_is_queued_behind_the_call_is_waited_for(
    room: str, locked: str, saves: Saves
) -> None:
    """Training may be many steps ahead of its device."""
    saves.lock(locked)
    saves.find_room(room)
    saves.take(1)
    saves.copy.drain()
    assert len(saves.gpus.current_stream().tasks) == len(saves.tensors)


@pytest.mark.parametrize("gpus", ["as late as possible"], indirect=True)
@pytest.mark.parametrize("room", ROOMS)
def test_the_call_waits_for_nothing_that_is_queued_before_it(room: str, saves: Saves) -> None:
    saves.lock()
    saves.find_room(room)
    saves.write(1)
    saves.copy.copy(nothing_promised)
    assert len(saves.gpus.current_stream().tasks) > len(saves.tensors)


def test_a_kernel_that_cannot_be_launched_is_done_without(
    saves: Saves, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[object] = []

    def refuse(*given: object) -> None:
        tried.append(given)
        raise OSError

    saves.lock("the ring is")
    saves.gather()
    monkeypatch.setattr(saves.gpus, "gather", refuse)
    for number in (1, 2):
        saves.take(number)
        saves.copy.drain()
        assert saves.torn_in_the_end(number) == []
    assert len(tried) == 1


def test_where_no_memory_is_left_of_what_was_free_all_goes_over_the_bus(saves: Saves) -> None:
    saves.lock()
    memory = saves.arenas.of(FIRST).memory
    assert saves.copy.has_room
    for number, is_full in ((1, True), (2, False)):
        saves.gpus.is_full = is_full
        saves.take(number)
        assert (memory._kept is None) == is_full
        saves.copy.drain()
        assert saves.torn(number) == []


def test_a_device_that_has_no_room_for_the_table_of_a_kernel_is_copied_from_all_the_same(
    saves: Saves,
) -> None:
    saves.lock()
    saves.gather()
    saves.gpus.is_full = True
    saves.take(1)
    saves.copy.drain()
    assert saves.torn_in_the_end(1) == []


@pytest.fixture(params=[FIRST, SECOND], ids=str)
def both(request: pytest.FixtureRequest, gpus: Gpus, arena: Arena) -> Iterator[Saves]:
    """Of two devices, while one of them is current."""
    with gpus.on_device(request.param), closing(Saves(gpus, arena, FIRST, SECOND)) as made:
        made.lock()
        yield made


@pytest.mark.parametrize("room", ROOMS)
def test_each_device_is_copied_from_in_the_order_of_its_own_stream(room: str, both: Saves) -> None:
    both.find_room(room)
    both.take(1)
    both.copy.drain()
    assert both.torn(1) == []
    assert both.torn_in_the_end(1) == []


def test_each_device_has_a_kernel_of_its_own(both: Saves) -> None:
    both.gather()
    both.take(1)
    both.copy.drain()
    assert both.torn_in_the_end(1) == []


def test_an_optimizer_waits_for_each_device_on_its_own_stream(
    both: Saves, monkeypatch: pytest.MonkeyPatch
) -> None:
    def step() -> None:
        both.copy.fence()
        both.write(1001, is_counted=False)

    both.find_room("no room")
    both.take(1, both.promise)
    while_it_crosses(monkeypatch, step, num_devices=2)
    both.copy.drain()
    assert both.torn_in_the_end(1) == []


def test_memory_of_the_host_that_a_device_still_writes_to_is_waited_for(saves: Saves) -> None:
    """As what was offloaded is: it is locked, and the copy there does not wait."""
    saves.gpus.driver.cudaHostRegister(saves.host.data_ptr(), saves.host.nbytes, 0)
    saves.lock("the ring is")
    saves.write(1)
    offloaded = saves.tensors[0][: saves.host.numel()]
    torch._foreach_copy_([saves.host], [offloaded], non_blocking=True)
    saves.copy.copy(nothing_promised)
    saves.gpus.driver.cudaHostUnregister(saves.host.data_ptr())

    record = saves.plan.layout.records[saves.plan.specs[-1].storage]
    there = saves.arena.memory[record.data_offset : record.data_end]
    assert torch.equal(there, bytes_of(1, saves.host.nbytes))
    saves.copy.drain()
