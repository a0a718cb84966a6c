"""What is locked of an arena is copied to directly, and the rest through a ring. Memory of the host
stands for that of a GPU."""

from __future__ import annotations

import threading
from types import SimpleNamespace
from typing import cast

import pytest
import torch

from instride.snapshot.arena import Arena
from instride.snapshot.arriving import Telling, tell_nobody
from instride.snapshot.backlog import Backlog
from instride.snapshot.blocks import Pairs, Share
from instride.snapshot.crossing import Crossing
from instride.snapshot.late import LateCopy
from instride.snapshot.ring import Ring
from tests.unit.snapshot.pretended import random_bytes
from tests.unit.snapshot.saves import REGISTERED_BYTES

pytestmark = pytest.mark.torch


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
    arena.grow(8 * REGISTERED_BYTES)
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
    crossing.copy_awaited(pairs[number] for number in (4, 1, 7, 5, 0, 6, 2, 3))
    crossing.finish()
    assert carried == [number * REGISTERED_BYTES for number in (7, 6, 5)]
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
