"""What tests on a GPU share. CI has none: these are run by hand on a machine that has one."""

from __future__ import annotations

import pytest
import torch

STATES = ("room", "room, copied by torch", "room for a part", "no room")


@pytest.fixture
def queue() -> torch.Tensor:
    return torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)


@pytest.fixture(params=STATES)
def room(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With memory to spare on the device, and a kernel of ours or none; with some; without any."""
    monkeypatch.setattr("instride.snapshot.blocks.BLOCK_BYTES", 16 << 20)
    if request.param == "room, copied by torch":
        monkeypatch.setattr("instride.snapshot.device_arena.gatherer_for", lambda device: None)
    elif request.param != "room":
        num_bytes = 16 << 20 if request.param == "room for a part" else 0
        monkeypatch.setattr("instride.snapshot.device_arena.room_bytes", lambda device: num_bytes)
    return str(request.param)


@pytest.fixture
def no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("instride.snapshot.device_arena.room_bytes", lambda device: 0)
