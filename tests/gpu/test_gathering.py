"""The kernel that brings storages together: every byte in its place, and no other byte touched."""

from __future__ import annotations

import pytest
import torch

from instride.snapshot.gathering import CHUNK_BYTES, Move, Moves, gatherer_for
from tests.gpu.trainings import NEEDS_A_GPU

pytestmark = NEEDS_A_GPU

SIZES = (1, 3, 15, 16, 17, 4097, 300_001, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 9 << 20)
GAP_BYTES = 64
POISON = 0xA5


@pytest.mark.parametrize("shift", [0, 4, 1], ids=["even", "by four bytes", "by one byte"])
def test_every_byte_comes_to_its_place_and_none_in_between_is_touched(shift: int) -> None:
    device = torch.device("cuda", 0)
    gatherer = gatherer_for(device)
    assert gatherer is not None
    sources = [
        torch.randint(0, 256, (size + shift,), dtype=torch.uint8, device=device)[shift:]
        for size in SIZES
    ]
    moves, place = [], 0
    for source in sources:
        moves.append(Move(source.data_ptr(), place, source.numel()))
        place += -(-source.numel() // GAP_BYTES) * GAP_BYTES + GAP_BYTES
    memory = torch.full((place,), POISON, dtype=torch.uint8, device=device)
    wanted = memory.clone()
    for move, source in zip(moves, sources, strict=True):
        wanted[move.place :][: move.num_bytes].copy_(source)

    gatherer.gather(Moves(moves, torch.cuda.Stream(device)), memory)

    assert torch.equal(memory, wanted)
