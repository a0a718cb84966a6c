"""What the code for GPUs calls of torch, where there is no GPU: memory of the host stands for that
of the device, and every copy is over when the call returns."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest
import torch

HOST, FIRST, SECOND = torch.device("cpu"), torch.device("cuda", 0), torch.device("cuda", 1)


class Elsewhere(torch.Tensor):
    """Memory of the host that says it was a device's."""

    where = HOST

    @property
    def device(self) -> torch.device:
        return self.where


class OnFirst(Elsewhere):
    where = FIRST


class OnSecond(Elsewhere):
    where = SECOND


KINDS = {HOST: torch.Tensor, FIRST: OnFirst, SECOND: OnSecond}


class Driver:
    """Locks memory as the driver does: a limited number of pieces, none of them twice."""

    def __init__(self) -> None:
        self.locked: dict[int, int] = {}
        self.most_pieces = 1000

    def cudaHostRegister(self, address: int, num_bytes: int, flags: int) -> int:
        if len(self.locked) >= self.most_pieces:
            return 2
        end = address + num_bytes
        assert all(end <= first or first + size <= address for first, size in self.locked.items())
        self.locked[address] = num_bytes
        return 0

    def cudaHostUnregister(self, address: int) -> int:
        del self.locked[address]
        return 0


class Event:
    has_arrived = True

    def __init__(self, blocking: bool = False) -> None:
        self.is_recorded = False

    def record(self) -> None:
        self.is_recorded = True

    def query(self) -> bool:
        return self.has_arrived or not self.is_recorded

    def synchronize(self) -> None:
        assert self.is_recorded


def pretend(monkeypatch: pytest.MonkeyPatch) -> Driver:
    """From now on, as if there were GPUs."""
    made = Driver()
    stream: Any = SimpleNamespace(device=torch.device("cuda", 0))
    monkeypatch.setattr(torch.cuda, "cudart", lambda: made)
    monkeypatch.setattr(torch.cuda, "Event", Event)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: stream)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "device", nullcontext)
    monkeypatch.setattr(torch.cuda, "stream", nullcontext)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    return made


def random_bytes(num_bytes: int) -> torch.Tensor:
    """Of the host."""
    return torch.randint(0, 256, (num_bytes,), dtype=torch.uint8)
