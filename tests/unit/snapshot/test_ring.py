"""What leaves a GPU through a little locked memory. Memory of the host stands for that of a GPU."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from instride.snapshot.arena import SPARE_BYTES, Arena
from instride.snapshot.arriving import InOrder, tell_nobody
from instride.snapshot.blocks import Pairs
from instride.snapshot.crossing import Crossing
from instride.snapshot.ring import NUM_SLOTS, Ring, _Carrier, _Slot
from tests.unit.snapshot.pretended import Driver, Event, random_bytes
from tests.unit.snapshot.saves import REGISTERED_BYTES

pytestmark = pytest.mark.torch

SIZES = (REGISTERED_BYTES, 1, 3, REGISTERED_BYTES - 1, 16 << 10, 20 << 10, 52 << 10, 7) * 3


@pytest.mark.parametrize("is_awaited", [True, False], ids=["awaited", "gently"])
@pytest.mark.parametrize("has_arrived", [True, False], ids=["there", "waited for"])
def test_every_byte_comes_to_its_place(
    has_arrived: bool, is_awaited: bool, ring: Ring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Event, "has_arrived", has_arrived)
    source, target = random_bytes(sum(SIZES)), torch.zeros(sum(SIZES), dtype=torch.uint8)
    ring.carry([(list(target.split(SIZES)), list(source.split(SIZES)))], is_awaited=is_awaited)
    assert torch.equal(target, source)


@pytest.mark.parametrize("most_pieces", [NUM_SLOTS, 0], ids=["locked", "nothing can be locked"])
def test_what_is_told_to_be_there_is(most_pieces: int, ring: Ring, driver: Driver) -> None:
    driver.most_pieces = most_pieces
    arena = Arena()
    arena.grow(sum(SIZES))
    source, target = random_bytes(sum(SIZES)), arena.memory[: sum(SIZES)]
    told: list[int] = []

    def tell(place: int) -> None:
        told.append(place)
        assert torch.equal(target[:place], source[:place])

    crossing = Crossing(arena, arena.memory, ring)
    crossing.copy([(list(target.split(SIZES)), list(source.split(SIZES)))], tell)
    assert told == sorted(set(told))
    assert told[-1] == sum(SIZES)
    arena.close()


def test_an_arena_that_grows_meanwhile_is_told_of_by_the_memory_it_had(ring: Ring) -> None:
    """A state may grow while it is on its way. The pages are the same, and the addresses others."""
    arena = Arena()
    arena.grow(sum(SIZES))
    before = arena.memory
    source = random_bytes(sum(SIZES))
    told: list[int] = []
    crossing = Crossing(arena, before, ring)
    pairs = (list(before[: sum(SIZES)].split(SIZES)), list(source.split(SIZES)))
    arena.grow(2 * arena.num_bytes)
    crossing.copy([pairs], told.append)
    assert told == sorted(set(told))
    assert told[-1] == sum(SIZES)
    assert torch.equal(arena.memory[: sum(SIZES)], source)
    arena.close()


def test_it_is_locked_once_and_no_more_than_its_slots(ring: Ring, driver: Driver) -> None:
    assert ring.make_ready() is ring.make_ready()
    assert sorted(driver.locked.values()) == [REGISTERED_BYTES] * NUM_SLOTS
    assert ring.register_s > 0


def test_one_that_is_closed_is_not_made_ready_again(ring: Ring, driver: Driver) -> None:
    """Its slots are memory of nobody by then."""
    assert len(ring.make_ready()) == NUM_SLOTS
    ring.close()
    assert ring.make_ready() == ()
    assert driver.locked == {}


def test_the_next_piece_is_on_its_way_while_one_is_taken_to_its_place(
    ring: Ring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("instride.snapshot.ring.NUM_GENTLE", 1)
    done: list[str] = []
    for name in ("fill", "empty"):
        do = getattr(_Slot, name)

        def note(slot: _Slot, *group: Any, name: str = name, do: Any = do) -> Any:
            done.append(name)
            return do(slot, *group)

        monkeypatch.setattr(_Slot, name, note)
    sizes = [REGISTERED_BYTES] * (NUM_SLOTS + 2)
    source, target = random_bytes(sum(sizes)), torch.zeros(sum(sizes), dtype=torch.uint8)
    ring.carry([(list(target.split(sizes)), list(source.split(sizes)))])
    assert done == ["fill"] * NUM_SLOTS + ["empty", "fill"] * 2 + ["empty"] * NUM_SLOTS
    assert torch.equal(target, source)


@pytest.mark.parametrize("most_pieces", [0, 1, NUM_SLOTS - 1])
def test_where_less_can_be_locked_it_works_with_less(
    most_pieces: int, ring: Ring, driver: Driver
) -> None:
    driver.most_pieces = most_pieces
    assert len(ring.make_ready()) == most_pieces
    source, target = random_bytes(sum(SIZES)), torch.zeros(sum(SIZES), dtype=torch.uint8)
    ring.carry([(list(target.split(SIZES)), list(source.split(SIZES)))])
    assert torch.equal(target, source)


def test_a_last_slot_that_memory_was_too_short_for_is_not_used(
    ring: Ring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("instride.snapshot.arena.PIECE_BYTES", REGISTERED_BYTES // 4)
    left_bytes = SPARE_BYTES + 9 * REGISTERED_BYTES // 4
    monkeypatch.setattr("instride.snapshot.arena.available_memory_bytes", lambda: left_bytes)
    assert [slot.numel() for slot in ring.make_ready()] == [REGISTERED_BYTES] * 2
    source, target = random_bytes(sum(SIZES)), torch.zeros(sum(SIZES), dtype=torch.uint8)
    ring.carry([(list(target.split(SIZES)), list(source.split(SIZES)))])
    assert torch.equal(target, source)


def test_a_copy_that_fails_is_told_and_the_next_one_works(ring: Ring) -> None:
    source, target = random_bytes(sum(SIZES)), torch.zeros(sum(SIZES), dtype=torch.uint8)
    places, pieces = list(target.split(SIZES)), list(source.split(SIZES))
    with pytest.raises(RuntimeError):
        ring.carry([(places, [*pieces[:-1], torch.ones(1, 7, dtype=torch.uint8)])])
    ring.carry([(places, pieces)])
    assert torch.equal(target, source)


def test_nothing_more_is_copied_once_a_copy_has_failed(ring: Ring) -> None:
    target = torch.zeros(2, dtype=torch.uint8)
    places, source = list(target.split(1)), torch.ones(1, dtype=torch.uint8)
    groups = [(places[:1], [torch.ones(1, 7, dtype=torch.uint8)]), (places[1:], [source])]
    carrier = _Carrier(iter(groups), torch.cuda.current_stream(), InOrder(tell_nobody))
    with pytest.raises(RuntimeError):
        carrier.work(ring.make_ready()[:1])
    carrier.work(ring.make_ready())
    assert target.tolist() == [0, 0]


def test_threads_take_one_piece_after_the_other(ring: Ring) -> None:
    sizes = [REGISTERED_BYTES] * 4
    source, target = random_bytes(sum(sizes)), torch.zeros(sum(sizes), dtype=torch.uint8)

    def slowly() -> Iterator[Pairs]:
        for place, piece in zip(target.split(sizes), source.split(sizes), strict=True):
            time.sleep(0.02)  # ValueError if another thread asks meanwhile
            yield [place], [piece]

    ring.carry(slowly())
    assert torch.equal(target, source)
