"""A copy that is made ahead of a save must not be of what the save no longer has."""

from __future__ import annotations

import threading

import pytest
import torch

from instride.saver.staging import Stager
from instride.snapshot.arena import Arena
from instride.snapshot.copying import WholeCopy
from instride.snapshot.device_arena import DeviceArenas
from instride.snapshot.planning import Plan

pytestmark = pytest.mark.torch
NUM_BYTES = 100_000


def tensors(*values: int) -> list[torch.Tensor]:
    return [torch.full((NUM_BYTES,), value, dtype=torch.uint8) for value in values]


def test_storages_that_became_others_while_a_copy_was_made_are_noticed(arena: Arena) -> None:
    arena.grow(4 * NUM_BYTES)
    first = tensors(1, 2)
    plan = Plan(first, detached=True)
    copy = WholeCopy(plan, arena, DeviceArenas())
    assert copy.is_for(plan, arena)

    assert plan.follow([first[0], *tensors(3)], detached=True) == [1]
    assert not copy.is_for(plan, arena)  # nobody has told it
    assert plan.follow([*tensors(4), first[1]], detached=True)
    assert not copy.follow([0])  # it has missed the one before


def test_a_copy_that_is_told_of_every_move_goes_on(arena: Arena) -> None:
    arena.grow(4 * NUM_BYTES)
    first = tensors(1, 2)
    plan = Plan(first, detached=True)
    copy = WholeCopy(plan, arena, DeviceArenas())
    others = tensors(3)
    moved = plan.follow([first[0], *others], detached=True)
    assert moved == [1]
    assert copy.follow(moved)
    assert copy.is_for(plan, arena)

    copy.copy(dict)
    record = plan.layout.records[1]
    assert bool((arena.memory[record.data_offset : record.data_end] == 3).all())


def test_a_save_that_comes_while_its_copy_is_made_ahead_has_its_own_values(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is kept between saves is read before, and the save has other storages."""
    is_reading, may_go_on = threading.Event(), threading.Event()

    class Slow(WholeCopy):
        def __init__(self, plan: Plan, arena: Arena, arenas: DeviceArenas) -> None:
            super().__init__(plan, arena, arenas)
            if not is_reading.is_set():
                is_reading.set()
                assert may_go_on.wait(60)

    monkeypatch.setattr("instride.saver.staging.WholeCopy", Slow)
    stager = Stager(None)
    kept = tensors(1)[0]
    stager.prepare({"kept": kept, "other": tensors(2)[0]}, detached=True)
    assert is_reading.wait(60)
    # The save finds out what moved, and then has to wait for the copy that is being made.
    threading.Timer(0.2, may_go_on.set).start()
    stager.take({"kept": kept, "other": tensors(3)[0]}, detached=True, allow_strange=True)

    memory = stager.arena.memory
    assert int((memory[: 4 * NUM_BYTES] == 3).sum()) >= NUM_BYTES
    stager.close()
