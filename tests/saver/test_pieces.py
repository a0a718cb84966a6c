"""Memory that pieces of a file are read into, where a GPU copies from it."""

from __future__ import annotations

import gc
import os
from contextlib import nullcontext

import pytest
import torch

from instride.saver.pieces import memory_for_piece
from instride.snapshot.locked import LockedPieces
from instride.store.manifest import PIECE_BYTES

pytestmark = pytest.mark.torch

GPU = torch.device("cuda", 1)


class Driver:
    """Notes what is locked."""

    def __init__(self) -> None:
        self.locked: list[tuple[int, int]] = []
        self.unlocked = 0
        self.devices: list[torch.device] = []
        self.lets = True

    def lock(self, pieces: LockedPieces, address: int, num_bytes: int) -> bool:
        self.locked += [(address, num_bytes)] if self.lets else []
        return self.lets

    def unlock(self, pieces: LockedPieces) -> None:
        self.unlocked += 1

    def device(self, device: torch.device) -> nullcontext[None]:
        self.devices.append(device)
        return nullcontext()


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    driver = Driver()
    monkeypatch.setattr(LockedPieces, "lock", lambda *args: driver.lock(*args))
    monkeypatch.setattr(LockedPieces, "unlock", lambda *args: driver.unlock(*args))
    monkeypatch.setattr(torch.cuda, "device", driver.device)
    return driver


def test_it_is_locked_as_long_as_it_lives(driver: Driver) -> None:
    piece = memory_for_piece(GPU)
    assert driver.locked == [(piece.data_ptr(), PIECE_BYTES)]
    assert driver.devices == [GPU], "no other one gets a context for it"
    assert piece.numel() == PIECE_BYTES
    assert not piece.any()
    part = piece[5:]
    assert driver.unlocked == 0
    del piece, part
    gc.collect()
    assert driver.unlocked == 1


def test_a_forked_child_unlocks_nothing(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    piece = memory_for_piece(GPU)
    monkeypatch.setattr(os, "getpid", lambda: -1)
    del piece
    gc.collect()
    assert driver.unlocked == 0


@pytest.mark.parametrize("gpu", [None, GPU])
def test_where_nothing_is_locked_it_is_read_into_all_the_same(
    gpu: torch.device | None, driver: Driver
) -> None:
    driver.lets = False
    assert memory_for_piece(gpu).fill_(7).sum() == 7 * PIECE_BYTES
    assert not driver.locked


def test_what_is_not_nvidias_is_not_locked_for(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A runtime of another maker is not known well enough to ask it for that."""
    monkeypatch.setattr(torch.version, "hip", "6.3")
    memory_for_piece(GPU)
    assert not driver.locked
