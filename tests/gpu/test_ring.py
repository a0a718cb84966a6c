"""What leaves a GPU through a little locked memory: every byte in its place, in the right order."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
import torch

from instride.snapshot.arena import Arena
from instride.snapshot.locked import REGISTERED_BYTES
from instride.snapshot.ring import NUM_SLOTS, Ring
from tests.gpu.trainings import NEEDS_A_GPU, busy

pytestmark = NEEDS_A_GPU

GAP_BYTES = 13
POISON = 0xA5


@pytest.fixture
def ring() -> Iterator[Ring]:
    made = Ring()
    yield made
    made.close()


def sizes_of(num_pieces: int) -> list[int]:
    chance = random.Random(1)
    odd = [chance.randrange(1, 3 << chance.randrange(22)) for _ in range(num_pieces)]
    return [REGISTERED_BYTES, 1, REGISTERED_BYTES - 1, 2, *odd]


@pytest.mark.parametrize("is_refused", [False, True], ids=["locked", "nothing can be locked"])
def test_every_byte_comes_to_its_place_and_none_in_between_is_touched(
    is_refused: bool, ring: Ring, queue: torch.Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_refused:
        monkeypatch.setattr(Arena, "register", lambda arena: None)
    sizes = sizes_of(400)
    source = torch.randint(0, 256, (sum(sizes),), dtype=torch.uint8, device="cuda")
    wanted, on_device = source.cpu(), source.clone()
    cuts = [each for size in sizes for each in (size, GAP_BYTES)]
    target = torch.full((sum(cuts),), POISON, dtype=torch.uint8)
    places = list(target.split(cuts)[::2])
    source.zero_()
    for turn in range(3):
        busy(queue)
        source.copy_(on_device)  # still queued when the ring is told to carry it
        told: list[int] = []
        ring.carry([(places, list(source.split(sizes)))], told.append, is_awaited=turn % 2 == 1)
        assert told == sorted(set(told))
        assert told[-1] == places[-1].data_ptr() + places[-1].numel()
        source.zero_()
        assert torch.equal(torch.cat(places), wanted)
        for place in places:
            place.zero_()
    assert bool((torch.cat(target.split(cuts)[1::2]) == POISON).all())
    assert len(ring.make_ready()) == (0 if is_refused else NUM_SLOTS)


def test_a_copy_that_fails_is_told_and_the_next_one_works(ring: Ring) -> None:
    source = torch.ones(64 << 20, dtype=torch.uint8, device="cuda")
    target = torch.zeros(64 << 20, dtype=torch.uint8)
    pieces, places = list(source.split(1 << 20)), list(target.split(1 << 20))
    strange = [*pieces[:-1], source[: 1 << 10].view(32, 32)]
    with pytest.raises(RuntimeError):
        ring.carry([(places, strange)])
    ring.carry([(places, pieces)])
    assert bool((target == 1).all())


def test_memory_that_the_driver_refuses_to_lock_is_done_without(ring: Ring) -> None:
    """What it says to that must not come up again in the copies that follow."""
    arena = ring._arena
    arena.grow(NUM_SLOTS * REGISTERED_BYTES)
    arena.populate()
    taken = arena.memory.data_ptr()
    assert int(torch.cuda.cudart().cudaHostRegister(taken, REGISTERED_BYTES, 0)) == 0

    assert ring.make_ready() == ()

    source = torch.full((1 << 20,), 7, dtype=torch.uint8, device="cuda")
    target = torch.zeros(1 << 20, dtype=torch.uint8)
    ring.carry([([target], [source + 1])])
    torch.cuda.cudart().cudaHostUnregister(taken)
    assert bool((target == 8).all())
