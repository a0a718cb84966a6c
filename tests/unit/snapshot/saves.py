"""Saves from simulated GPUs: tensors that are written to before and behind them, and what comes to
the arena of these."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import cast

import pytest
import torch

from instride.snapshot.arena import Arena
from instride.snapshot.backlog import Backlog
from instride.snapshot.copying import WholeCopy
from instride.snapshot.crossing import Crossing
from instride.snapshot.device_arena import DeviceArenas
from instride.snapshot.device_memory import SPARE_BYTES
from instride.snapshot.gathering import Gatherer
from instride.snapshot.late import Storages
from instride.snapshot.planning import Plan
from instride.snapshot.runtime import letting_others_capture
from tests.unit.snapshot.pretended import FIRST
from tests.unit.snapshot.simulated import Gpus, bytes_of

KIB = 1 << 10
BLOCK_BYTES = 256 * KIB
REGISTERED_BYTES = 64 * KIB
SIZES = (70_001, 3, 300_000, 16, 129_999)
"""In numbers of four bytes: of less than a block, and of more."""
NUM_SLOTS = 3
ROOMS = {"room for all": 1 << 40, "room for a part": 3 * BLOCK_BYTES, "no room": 0}
LOCKED = ("all of it is", "a part of it is", "it is meanwhile", "the ring is", "nothing is")
"""How much of the memory of the host is locked."""


def make_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that is cut is cut into pieces so small that there are many of each kind."""
    small = {
        "REGISTERED_BYTES": (REGISTERED_BYTES, "arena blocks locked ring"),
        "BLOCK_BYTES": (BLOCK_BYTES, "blocks"),
        "PIECE_BYTES": (BLOCK_BYTES, "arena"),
        "PACED_BYTES": (2 * REGISTERED_BYTES, "crossing"),
        "HURRIED_BYTES": (4 * REGISTERED_BYTES, "crossing cuda"),
        "PART_BYTES": (8 * REGISTERED_BYTES, "crossing"),
        "PACE_S": (0.0, "locking"),
        "UNSEEN_PACE_S": (0.0, "locking"),
    }
    for name, (value, modules) in small.items():
        for module in modules.split():
            monkeypatch.setattr(f"instride.snapshot.{module}.{name}", value)
    # Which takes longer to find out than all else that happens here.
    monkeypatch.setattr("instride.snapshot.arena.available_memory_bytes", lambda: 1 << 40)
    for module in ("together", "locking"):  # on a busy machine modest threads wait for seconds
        modestly = f"instride.snapshot.{module}.make_thread_modest"
        monkeypatch.setattr(modestly, lambda *, preempts: None)


def nothing_promised() -> Storages:
    return {}


def elsewhere(do: Callable[[], None]) -> None:
    """In a thread of its own, where the stream that computes is the current one."""
    thread = threading.Thread(target=do, daemon=True)
    thread.start()
    thread.join(60)
    assert not thread.is_alive()


def while_it_crosses(
    monkeypatch: pytest.MonkeyPatch, train: Callable[[], None], num_devices: int = 1
) -> None:
    """Training comes to this when the copies were issued, and may still be under way."""
    all_issued = threading.Barrier(num_devices, lambda: elsewhere(train))
    seen: list[Crossing] = []
    finish = Crossing.finish

    def finish_later(crossing: Crossing) -> None:
        if crossing not in seen:
            seen.append(crossing)
            all_issued.wait(60)
        finish(crossing)

    monkeypatch.setattr(Crossing, "finish", finish_later)


class Saves:
    """What a stager has, and the tensors of a training."""

    def __init__(self, gpus: Gpus, arena: Arena, *devices: torch.device) -> None:
        self.gpus = gpus
        self.arena = arena
        self.arenas = DeviceArenas()
        self.devices = devices or (FIRST,)
        self.tensors = [
            torch.empty(size, dtype=torch.float32, device=device)
            for device in self.devices
            for size in SIZES
        ]
        self.host = torch.zeros(777)
        self.plan = Plan(self.all_tensors, detached=True)
        arena.grow(self.plan.layout.num_bytes)

    @property
    def all_tensors(self) -> list[torch.Tensor]:
        return [*self.tensors, self.host]

    def find_room(self, room: str) -> None:
        self.gpus.free_bytes = SPARE_BYTES + ROOMS[room]

    def lock(self, how: str = "all of it is") -> None:
        """Memory for the devices, as far as the driver allows it."""
        driver = self.gpus.driver
        for device in self.devices:
            is_any = how != "nothing is"
            driver.most_pieces = len(driver.locked) + NUM_SLOTS if is_any else 0
            with letting_others_capture():
                self.arenas.of(device).make_ready()
        if how in LOCKED[:3]:
            driver.most_pieces = 1000
            self.arena.populate()
        if how == "all of it is":
            self.arena.register()
        elif how == "a part of it is":
            for _ in range(12):
                self.arena.register_next()

    @cached_property
    def copy(self) -> WholeCopy:
        return WholeCopy(self.plan, self.arena, self.arenas)

    def plan_again(self) -> None:
        """As a stager does it before each save."""
        moved = self.plan.follow(self.all_tensors, detached=True)
        assert moved is not None
        if moved and not self.copy.follow(moved):
            del self.copy

    def write(self, number: int, *, is_counted: bool = True) -> None:
        """What a step of training queues; the host is written to at once."""
        for nth, tensor in enumerate(self.tensors):
            self.gpus.write(tensor, number + nth, is_counted=is_counted)
        self.host.fill_(number)

    def promise(self) -> Storages:
        """As if an optimizer was known to change nothing but all of it."""
        return {tensor.data_ptr(): [tensor] for tensor in self.tensors}

    def take(self, number: int, promise: Callable[[], Storages] = nothing_promised) -> None:
        """A save behind a step, and right behind it the next step, if an optimizer may."""
        self.write(number)
        self.copy.copy(promise)
        if not self.copy.is_late:
            self.write(number + 1000)

    def torn(self, number: int) -> list[int]:
        """Those of the tensors that are not in the arena as they were written."""
        wanted = [bytes_of(number + nth, each.nbytes) for nth, each in enumerate(self.tensors)]
        wanted.append(torch.full_like(self.host, number).view(torch.uint8))
        records = [self.plan.layout.records[spec.storage] for spec in self.plan.specs]
        there = [self.arena.memory[each.data_offset : each.data_end] for each in records]
        return [nth for nth, each in enumerate(wanted) if not torch.equal(there[nth], each)]

    def torn_in_the_end(self, number: int) -> list[int]:
        """The same once all is done that was queued anywhere."""
        self.gpus.synchronize()
        return self.torn(number)

    def gather(self) -> None:
        """With a kernel."""
        for device in self.devices:
            self.arenas.of(device).gatherer = cast(Gatherer, self.gpus)

    def fence(self) -> None:
        """As an optimizer does, which must not wait for ever."""
        elsewhere(self.copy.fence)

    def close(self) -> None:
        self.gpus.synchronize()
        self.arenas.close()

    @contextmanager
    def draining(self) -> Iterator[None]:
        """As it is while training goes on. Raises what that has raised."""
        errors: list[Exception] = []

        def drain() -> None:
            try:
                self.copy.drain()
            except Exception as error:
                errors.append(error)

        thread = threading.Thread(target=drain, daemon=True)
        thread.start()
        yield
        thread.join(60)
        assert not thread.is_alive()
        if errors:
            raise errors[0]


def drain_once_it_waits(
    saves: Saves, train: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Training comes to an optimizer before anything else was done; only then it is drained."""
    has_come = threading.Event()

    @contextmanager
    def note(backlog: Backlog) -> Iterator[None]:
        has_come.set()
        yield

    def step() -> None:
        saves.copy.fence()
        train()
        has_come.set()

    monkeypatch.setattr(Backlog, "training_waits", note)
    thread = threading.Thread(target=step, daemon=True)
    thread.start()
    assert has_come.wait(60)
    saves.copy.drain()
    thread.join(60)
    assert not thread.is_alive()


def of_another_stream(gpus: Gpus, arena: Arena) -> Saves:
    """Tensors whose memory belongs to a stream that does not wait for copies, as with FSDP."""
    writes = gpus.new_stream(FIRST)
    with gpus.on_stream(writes):
        made = Saves(gpus, arena)
        made.write(1)
    gpus.current_stream().wait_stream(writes)
    return made
