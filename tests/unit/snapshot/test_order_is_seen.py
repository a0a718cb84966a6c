"""The simulation of GPUs fails who orders nothing: what keeps snapshots whole is taken away here, a
part at a time, and each time they are torn."""

from __future__ import annotations

from contextlib import closing

import pytest

from instride.snapshot.arena import Arena
from instride.snapshot.late import ChangedError, LateCopy
from tests.unit.snapshot.allocating import POISON
from tests.unit.snapshot.pretended import FIRST, Elsewhere
from tests.unit.snapshot.saves import (
    SIZES,
    Saves,
    nothing_promised,
    of_another_stream,
    while_it_crosses,
)
from tests.unit.snapshot.simulated import Gpus
from tests.unit.snapshot.streams import Event, Stream

pytestmark = pytest.mark.torch

ALL = list(range(len(SIZES)))


def by(schedule: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("gpus", [schedule], indirect=True)


def is_poisoned(saves: Saves, number: int) -> bool:
    record = saves.plan.layout.records[saves.plan.specs[number].storage]
    return bool((saves.arena.memory[record.data_offset : record.data_end] == POISON).any())


@by("training last")
def test_whoever_does_not_wait_for_the_stream_that_computes_is_too_early(
    saves: Saves, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Stream, "wait_event", lambda stream, event: None)
    saves.lock()
    saves.take(1)
    saves.copy.drain()
    assert saves.torn_in_the_end(1) == ALL


@by("training first")
@pytest.mark.parametrize("is_taken_away", [True, False])
def test_an_optimizer_whose_stream_does_not_wait_is_too_early(
    is_taken_away: bool, saves: Saves, monkeypatch: pytest.MonkeyPatch
) -> None:
    def step() -> None:
        if is_taken_away:
            monkeypatch.setattr(Stream, "wait_event", lambda stream, event: None)
        saves.copy.fence()
        saves.write(1001)

    saves.lock()
    saves.find_room("no room")
    saves.take(1, saves.promise)
    while_it_crosses(monkeypatch, step)
    saves.copy.drain()
    assert bool(saves.torn(1)) == is_taken_away


@by("training first")
def test_an_optimizer_without_a_fence_is_too_early(
    saves: Saves, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LateCopy, "fence", lambda late, device: None)
    saves.lock()
    saves.find_room("no room")
    saves.take(1, saves.promise)
    saves.fence()
    saves.write(1001, is_counted=False)
    saves.copy.drain()
    assert saves.torn_in_the_end(1) == ALL

    saves.take(2, saves.promise)
    saves.fence()
    saves.write(1001)
    with pytest.raises(ChangedError):
        saves.copy.drain()


@by("as late as possible")
def test_memory_of_another_stream_that_is_not_recorded_is_given_away_too_early(
    gpus: Gpus, arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Elsewhere, "record_stream", lambda tensor, stream: None)
    with closing(of_another_stream(gpus, arena)) as saves:
        gpus.synchronize()
        saves.lock()
        saves.copy.copy(nothing_promised)
        for tensor in saves.tensors:
            gpus.resize(tensor, 0)
        saves.copy.drain()
        assert saves.torn_in_the_end(1) == ALL
        assert all(is_poisoned(saves, number) for number in ALL)


@by("training first")
def test_memory_that_is_given_back_while_it_is_copied_from_is_overwritten(
    saves: Saves, monkeypatch: pytest.MonkeyPatch
) -> None:
    def settle() -> None:
        (device,) = saves.copy._devices
        device._staged = []
        device._on_device.memory.settle()
        saves.gpus.zeros(1, device=FIRST)  # training asks for memory

    while_it_crosses(monkeypatch, settle)
    saves.lock()
    saves.take(1)
    saves.copy.drain()
    assert saves.torn_in_the_end(1)
    assert any(is_poisoned(saves, number) for number in ALL)


@by("as late as possible")
def test_copies_that_nobody_waits_for_are_too_late(
    saves: Saves, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Event, "synchronize", lambda event: None)
    saves.lock()
    saves.take(1)
    saves.copy.drain()
    assert saves.torn(1)


@by("training first")
def test_a_copy_made_behind_the_step_that_follows_is_too_late(
    saves: Saves, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what does not depend on the schedule is not hidden by it."""
    monkeypatch.setattr("instride.snapshot.cuda._copy_inside", lambda staged: None)
    saves.lock()
    saves.take(1)
    saves.copy.drain()
    assert saves.torn_in_the_end(1) == ALL
