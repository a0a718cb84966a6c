"""What leaves a GPU through a little locked memory. Memory of the host stands for that of a GPU."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch

from instride.snapshot.arena import Arena
from instride.snapshot.arriving import Telling, tell_nobody
from instride.snapshot.backlog import Backlog
from instride.snapshot.blocks import Pairs, Share
from instride.snapshot.crossing import Crossing
from instride.snapshot.late import LateCopy
from instride.snapshot.locked import REGISTERED_BYTES
from instride.snapshot.ring import NUM_SLOTS, Ring, _Slot
from tests.unit.snapshot.pretended import Driver, Event

pytestmark = pytest.mark.torch

SIZES = (REGISTERED_BYTES, 1, 3, REGISTERED_BYTES - 1, 4 << 20, 5 << 20, 13 << 20, 7) * 3


@pytest.fixture
def ring(driver: Driver) -> Iterator[Ring]:
    made = Ring()
    yield made
    made.close()
    assert driver.locked == {}


def random_bytes(num_bytes: int) -> torch.Tensor:
    return torch.randint(0, 256, (num_bytes,), dtype=torch.uint8)


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


def test_a_copy_that_fails_is_told_and_the_next_one_works(ring: Ring) -> None:
    source, target = random_bytes(sum(SIZES)), torch.zeros(sum(SIZES), dtype=torch.uint8)
    places, pieces = list(target.split(SIZES)), list(source.split(SIZES))
    with pytest.raises(RuntimeError):
        ring.carry([(places, [*pieces[:-1], torch.ones(1, 7, dtype=torch.uint8)])])
    ring.carry([(places, pieces)])
    assert torch.equal(target, source)


@pytest.mark.parametrize("is_awaited", [True, False], ids=["awaited", "gently"])
@pytest.mark.parametrize("num_locked", [0, 2, 4])
def test_what_is_locked_is_copied_to_directly_and_the_rest_through_the_ring(
    num_locked: int, is_awaited: bool, ring: Ring, monkeypatch: pytest.MonkeyPatch
) -> None:
    arena = Arena()
    arena.grow(4 * REGISTERED_BYTES)
    arena.populate()
    for _ in range(num_locked):
        arena.register_next()
    carried: list[int] = []
    carry = ring.carry

    def note(pairs: list[Pairs], tell: Telling = tell_nobody, *, is_awaited: bool = False) -> None:
        start = arena.memory.data_ptr()
        carried.extend(place.data_ptr() - start for places, _ in pairs for place in places)
        carry(pairs, tell, is_awaited=is_awaited)

    monkeypatch.setattr(ring, "carry", note)
    source = random_bytes(arena.num_bytes)
    places, pieces = arena.memory.split(REGISTERED_BYTES), source.split(REGISTERED_BYTES)
    crossing = Crossing(arena, arena.memory, ring)
    told: list[int] = []
    if is_awaited:
        crossing.copy_awaited([(list(places), list(pieces))])
    else:
        crossing.copy([(list(places), list(pieces))], told.append)
    crossing.finish()
    assert carried == [number * REGISTERED_BYTES for number in range(num_locked, 4)]
    assert bool(told) == (num_locked == 0 and not is_awaited)  # what went directly may come later
    assert torch.equal(arena.memory, source)
    arena.close()


def test_what_is_locked_while_somebody_waits_goes_directly_after_all(
    ring: Ring, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ring takes from the end what would be locked last."""
    monkeypatch.setattr("instride.snapshot.crossing.PART_BYTES", REGISTERED_BYTES)
    arena = Arena()
    arena.grow(6 * REGISTERED_BYTES)
    arena.populate()
    carried: list[int] = []
    carry = ring.carry

    def note(pairs: list[Pairs], tell: Telling = tell_nobody, *, is_awaited: bool = False) -> None:
        assert is_awaited
        start = arena.memory.data_ptr()
        carried.extend(place.data_ptr() - start for places, _ in pairs for place in places)
        carry(pairs, tell, is_awaited=is_awaited)
        arena.register_next()
        arena.register_next()

    monkeypatch.setattr(ring, "carry", note)
    source = random_bytes(arena.num_bytes)
    places, pieces = arena.memory.split(REGISTERED_BYTES), source.split(REGISTERED_BYTES)
    crossing = Crossing(arena, arena.memory, ring)
    pairs = [([place], [piece]) for place, piece in zip(places, pieces, strict=True)]
    crossing.copy_awaited(pairs[number] for number in (4, 1, 5, 0, 2, 3))
    crossing.finish()
    assert carried == [number * REGISTERED_BYTES for number in (5, 4)]
    assert torch.equal(arena.memory, source)
    arena.close()


@pytest.mark.parametrize("is_capturing", [True, False])
def test_memory_is_locked_while_an_optimizer_waits(
    is_capturing: bool, ring: Ring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: is_capturing)
    arena = Arena()
    late = LateCopy(Crossing(arena, arena.memory, ring))
    source = random_bytes(8)
    late.begin([cast(Share, SimpleNamespace(source=source))], {source.data_ptr(): [source]})
    waiting = threading.Thread(target=late.fence, args=(torch.device("cuda", 0),))
    with arena.backlog.watched(torch.device("cuda", 0)):
        assert not arena.backlog.is_left
        waiting.start()
        assert arena.backlog.await_some(60)
        late.end()
        waiting.join(60)
        assert not arena.backlog.is_left
        late._shares = [cast(Share, SimpleNamespace(source=source))]
        monkeypatch.setattr(Backlog, "training_waits", lambda self: pytest.fail("nobody waits"))
        late.fence(torch.device("cuda", 0))
    arena.close()
