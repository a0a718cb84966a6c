"""Memory of simulated GPUs that goes, moves or is kept while a snapshot is on its way: whoever gets
it next overwrites it."""

from __future__ import annotations

from contextlib import closing

import pytest
import torch

from instride.snapshot.arena import Arena
from tests.unit.snapshot.pretended import FIRST
from tests.unit.snapshot.saves import (
    ROOMS,
    Saves,
    nothing_promised,
    of_another_stream,
    while_it_crosses,
)
from tests.unit.snapshot.simulated import Gpus

pytestmark = pytest.mark.torch


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


def test_late_memory_that_is_let_go_of_behind_an_optimizer_is_copied_first(
    gpus: Gpus, arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the optimizer steps on another stream than was current at the call."""
    with (
        gpus.on_stream(gpus.new_stream(FIRST)),
        closing(of_another_stream(gpus, arena)) as saves,
    ):
        saves.lock()
        saves.find_room("no room")
        saves.copy.copy(saves.promise)
        assert saves.copy.is_late

        def step_and_let_go() -> None:
            saves.copy.fence()
            for tensor in saves.tensors:
                gpus.resize(tensor, 0)

        while_it_crosses(monkeypatch, step_and_let_go)
        saves.copy.drain()
        assert saves.torn_in_the_end(1) == []


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


@pytest.fixture
def saved(saves: Saves) -> Saves:
    """Once, so that memory of the device is kept for the next time."""
    saves.lock("the ring is")
    saves.gather()
    saves.take(1)
    saves.copy.drain()
    return saves


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


def test_what_was_begun_is_given_up_where_tensors_are_others_by_now(saved: Saves) -> None:
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
