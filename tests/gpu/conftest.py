"""What tests on a GPU share. CI has none: these are run by hand on a machine that has one."""

from __future__ import annotations

import pytest
import torch

from instride.snapshot.arena import Arena

STATES = ("room", "room, copied by torch", "room for a part", "no room", "nothing is locked")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skipped in one place, or the summary of every run elsewhere would have a line for each."""
    is_there = torch.cuda.is_available() and torch.version.hip is None
    if item.get_closest_marker("gpu") is not None and not is_there:
        pytest.skip("copies that go on behind the call are of CUDA: there is no GPU of NVIDIA here")


@pytest.fixture
def queue() -> torch.Tensor:
    return torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)


@pytest.fixture(params=STATES)
def room(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With memory to spare on the device, and a kernel of ours or none; with some; without any,
    and memory of the host that is locked for it, or will never be."""
    monkeypatch.setattr("instride.snapshot.blocks.BLOCK_BYTES", 16 << 20)
    if request.param == "room, copied by torch":
        monkeypatch.setattr("instride.snapshot.device_arena.gatherer_for", lambda device: None)
    elif request.param != "room":
        num_bytes = 16 << 20 if request.param == "room for a part" else 0
        monkeypatch.setattr("instride.snapshot.device_memory.room_bytes", lambda *_: num_bytes)
    if request.param == "nothing is locked":
        monkeypatch.setattr(Arena, "lock", lambda arena, device: None)
    return str(request.param)


@pytest.fixture
def no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("instride.snapshot.device_memory.room_bytes", lambda *_: 0)
