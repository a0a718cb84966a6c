"""Memory of simulated GPUs that goes, moves or is kept while a snapshot is on its way: whoever gets
it next overwrites it."""

from __future__ import annotations

import gc
from contextlib import closing
from typing import Any

import pytest
import torch
from torch.multiprocessing.reductions import StorageWeakRef

from instride.snapshot.arena import Arena
from instride.snapshot.device_memory import DeviceMemory
from instride.snapshot.planning import Plan
from instride.snapshot.seen import Seen
from tests.unit.snapshot.pretended import FIRST
from tests.unit.snapshot.saves import (
    BLOCK_BYTES,
    ROOMS,
    SIZES,
    Saves,
    nothing_promised,
    of_another_stream,
)
from tests.unit.snapshot.simulated import Gpus
from tests.unit.snapshot.streams import Event, Stream

pytestmark = pytest.mark.torch

NEARLY_BLOCKS = tuple(BLOCK_BYTES // 4 - 100 - number for number in range(8))
"""So that some are in such blocks alone that found room."""


@pytest.mark.parametrize("room", ROOMS)
def test_memory_that_is_let_go_of_behind_the_call_is_copied_first(
    room: str, gpus: Gpus, arena: Arena
) -> None:
    with closing(of_another_stream(gpus, arena)) as saves:
        saves.lock()
        saves.find_room(room)
        saves.copy.copy(nothing_promised)
        for tensor in saves.tensors:
            gpus.resize(tensor, 0)
        saves.copy.drain()
        assert saves.torn_in_the_end(1) == []


@pytest.mark.parametrize("sizes", [SIZES, NEARLY_BLOCKS], ids=["many", "blocks"])
@pytest.mark.parametrize("room", ROOMS)
def test_memory_that_is_other_at_its_old_place_is_copied_before_it_is_let_go_of(
    room: str,
    sizes: tuple[int, ...],
    gpus: Gpus,
    arena: Arena,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What was said of the memory that was there at the save before does not count for it."""
    monkeypatch.setattr("tests.unit.snapshot.saves.SIZES", sizes)
    owner = gpus.new_stream(FIRST)

    def resize(nums_of_bytes: list[int]) -> None:
        with gpus.on_stream(owner):
            for tensor, num_bytes in zip(saves.tensors, nums_of_bytes, strict=True):
                gpus.resize(tensor, num_bytes)

    with closing(of_another_stream(gpus, arena)) as saves:
        full = [tensor.nbytes for tensor in saves.tensors]
        none = [0] * len(full)
        for _ in range(2):  # from now on they are the owner's
            gpus.synchronize()
            resize(none)
            resize(full)
        saves.lock()
        saves.find_room(room)
        saves.take(1)
        saves.copy.drain()
        gpus.synchronize()
        places = [tensor.data_ptr() for tensor in saves.tensors]
        resize(none)
        resize(full)
        assert [tensor.data_ptr() for tensor in saves.tensors] == places
        saves.write(2)
        saves.copy.copy(nothing_promised)
        resize(none)
        saves.copy.drain()
        assert saves.torn_in_the_end(2) == []


def test_memory_that_was_copied_from_is_given_back_where_it_is_scarce(saves: Saves) -> None:
    saves.lock()
    for room in ("room for a part", "room for all"):
        saves.find_room(room)
        saves.take(1)
        saves.arenas.give_way()
        memory = saves.arenas.of(FIRST).memory
        assert memory._kept is not None  # it is in use
        saves.copy.drain()
        saves.arenas.give_way()
        assert (memory._kept is None) == (room == "room for a part")


def test_what_training_needs_is_asked_for_when_nothing_of_a_snapshot_is_in_use_any_more(
    saves: Saves, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it would be counted along with that."""
    is_idle: list[bool] = []
    settle = DeviceMemory.settle

    def note_and_settle(memory: DeviceMemory) -> None:
        assert memory._kept is not None
        is_idle.append(memory._kept.is_idle)
        settle(memory)

    monkeypatch.setattr(DeviceMemory, "settle", note_and_settle)
    saves.lock()
    saves.take(1)
    saves.copy.drain()
    assert is_idle == [True]


@pytest.fixture
def saved(saves: Saves) -> Saves:
    """Once, so that memory of the device is kept for the next time."""
    saves.lock("the ring is")
    saves.gather()
    saves.take(1)
    saves.copy.drain()
    return saves


def test_what_is_kept_is_given_back_when_a_saver_ends(saved: Saves) -> None:
    """Not whenever somebody collects garbage: a graph may be captured then."""
    memory = saved.arenas.of(FIRST).memory
    assert memory._kept is not None
    saved.arenas.close()
    assert memory._kept is None


def test_what_is_begun_ahead_is_the_snapshot(saved: Saves) -> None:
    saved.write(2)
    saved.copy.begin()
    saved.write(1002)  # by somebody who must not: it shows which of them is the snapshot
    saved.plan_again()
    saved.host.fill_(2)
    saved.copy.copy(nothing_promised)
    saved.write(2002)
    saved.copy.drain()
    assert saved.torn_in_the_end(2) == []


def test_what_was_begun_is_given_up_where_tensors_are_others_by_now(
    saved: Saves, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("instride.snapshot.copying.MOST_FOLLOWED", 0)
    saved.write(2)
    before = saved.copy
    before.begin()
    saved.tensors[2] = torch.empty_like(saved.tensors[2].as_subclass(torch.Tensor)).to(FIRST)
    saved.write(3)
    saved.plan_again()
    assert saved.copy is not before
    del before
    saved.copy.copy(nothing_promised)
    saved.write(1003)
    saved.copy.drain()
    assert saved.torn_in_the_end(3) == []


def test_what_was_begun_is_not_what_is_saved_after_it_was_given_up(saved: Saves) -> None:
    saved.copy.begin()
    saved.copy.drain()
    saved.take(2)
    saved.copy.drain()
    assert saved.torn_in_the_end(2) == []


def test_nothing_is_begun_where_a_storage_has_let_go_of_its_memory(saved: Saves) -> None:
    size = saved.tensors[2].nbytes
    saved.gpus.resize(saved.tensors[2], 0)
    saved.copy.begin()
    saved.gpus.resize(saved.tensors[2], size)
    saved.gpus.synchronize()


def test_nothing_is_begun_in_memory_that_is_still_copied_from(saved: Saves) -> None:
    saved.take(2)
    saved.write(3)
    saved.copy.begin()
    saved.copy.drain()
    assert saved.torn_in_the_end(2) == []


def test_the_table_of_a_kernel_outlives_a_copy_that_nobody_has_any_more(saved: Saves) -> None:
    saved.copy.begin()
    del saved.copy
    saved.gpus.synchronize()


def test_the_table_of_a_kernel_outlives_a_call_that_somebody_has_interrupted(
    saved: Saves, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(event: Event) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as interrupted:
        interrupted.setattr(Event, "record", interrupt)
        with pytest.raises(KeyboardInterrupt):
            saved.copy.begin()
    del saved.copy
    saved.gpus.synchronize()


@pytest.mark.parametrize("lacks", ["nothing", "a kernel", "a table"])
def test_only_what_a_kernel_copies_is_begun_ahead(lacks: str, saved: Saves) -> None:
    """All else is not quickly done, and may be in vain."""
    if lacks == "a kernel":
        saved.arenas.of(FIRST).gatherer = None
    if lacks == "a table":
        del saved.copy
        saved.gpus.is_full = True
        assert saved.copy._devices[0]._moves is None
        saved.gpus.is_full = False
    before = saved.gpus.current_stream().last
    saved.copy.begin()
    assert (saved.gpus.current_stream().last is before) == (lacks != "nothing")


def test_what_was_begun_is_of_one_save_also_where_that_was_not_drained(saved: Saves) -> None:
    """As where the writer was gone before."""
    saved.write(2)
    saved.copy.begin()
    saved.copy.copy(nothing_promised)
    saved.take(3)
    saved.copy.drain()
    assert saved.torn_in_the_end(3) == []


@pytest.mark.parametrize("is_of_before", [False, True], ids=["", "of a plan before"])
@pytest.mark.parametrize("why", ["a child", "an error that stays", "nothing"])
def test_where_the_driver_does_not_answer_nothing_is_freed_that_another_stream_was_seen_to_use(
    why: str, is_of_before: bool, saves: Saves, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would be asked for that, and the process would end."""

    def refuse(*_: object) -> None:
        raise RuntimeError("CUDA error: device-side assert triggered")

    seen = Seen()
    for module in ("cuda", "device_arena"):
        monkeypatch.setattr(f"instride.snapshot.{module}.seen", seen)
    saves.lock()
    saves.find_room("no room")
    saves.take(1)
    saves.copy.drain()
    storages = [StorageWeakRef(tensor.untyped_storage()) for tensor in saves.tensors]
    if is_of_before:
        del saves.copy
        saves.plan = Plan([torch.ones(3)], detached=True)
        saves.take(2)
    with monkeypatch.context() as failing:
        if why == "an error that stays":
            failing.setattr(Stream, "query", refuse)
        else:  # another thread may be capturing
            failing.setattr(torch.cuda, "synchronize", refuse)
        if why == "a child":
            seen.hold()
            seen.never_free_in_child()
        saves.arenas.free_nothing_if_failed()
    saves.tensors.clear()
    del saves.copy, saves.plan
    gc.collect()
    assert [storage.expired() for storage in storages] == [why == "nothing"] * len(storages)


@pytest.mark.parametrize("is_known", [True, False], ids=["known", "not known yet"])
def test_what_finds_no_room_has_memory_locked_once_it_is_known_how_much_training_needs(
    is_known: bool, saves: Saves, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[torch.device] = []
    monkeypatch.setattr(saves.arena, "lock", asked.append)
    saves.lock("the ring is")
    saves.find_room("room for a part")
    saves.arenas.know_peak(is_known=is_known)
    saves.take(1)
    saves.copy.drain()
    assert asked == ([FIRST] if is_known else [])
    saves.find_room("room for all")
    saves.arenas.know_peak(is_known=True)
    saves.take(2)
    saves.copy.drain()
    assert len(asked) == is_known
    assert saves.torn_in_the_end(2) == []


@pytest.mark.parametrize("number", [0, 1, 3])
def test_what_cannot_wait_is_first_to_get_room(
    number: int, saves: Saves, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else training would wait for the bus."""
    saves.lock()
    saves.find_room("room for a part")
    saves.write(1)
    promised = saves.promise()
    del promised[saves.tensors[number].data_ptr()]
    copy = torch._foreach_copy_

    def copy_inside(places: list[torch.Tensor], pieces: list[torch.Tensor], **how: Any) -> None:
        assert places[0].device == pieces[0].device
        copy(places, pieces, **how)

    with monkeypatch.context() as watched:
        watched.setattr(torch, "_foreach_copy_", copy_inside)
        saves.copy.copy(lambda: promised)
    saves.gpus.write(saves.tensors[number], 1001)
    saves.copy.drain()
    assert saves.torn_in_the_end(1) == []
