"""Whether ways of saving hold the moment of their call on a GPU: ours must, rivals are told about.

A rival that tears is reported as an expected failure: `pytest -ra` says which. Whatever else fails
is a fault of the harness.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest
import torch

from instride.bench.asking import NotInstalledError, ask
from instride.bench.child import NUM_BLOWS, hammer
from instride.bench.names import OURS, OURS_WITHOUT_ROOM, is_rival, names_on
from instride.bench.orders import Hammered, Order, Task
from instride.bench.training import Training
from instride.bench.ways import WAYS
from instride.bench.ways.contract import Done, NoSaving, Ticket
from instride.bench.ways.others import TorchSave
from instride.bench.ways.ours import InstrideWithoutRoom, OurTicket
from instride.snapshot.blocks import Share
from instride.snapshot.late import LateCopy, Storages
from tests.gpu.trainings import NEEDS_A_GPU
from tests.integration.careless import LateSave

pytestmark = NEEDS_A_GPU

RIVALS = [name for name in names_on("cuda") if is_rival(name)]
SYNCHRONOUS = ("torch.save", "dcp.save")
MIB = 1 << 20
SMALLEST = 1
"""Parameters to ask for: the GPT that is nearest has some 80 MB of state."""


def order_of(name: str, folder: Path) -> Order:
    return Order(
        Task.HAMMER, str(folder), name, num_params=SMALLEST, watches_memory=False, device="cuda"
    )


def hammered(name: str, folder: Path) -> Hammered:
    """In a process of its own, as `bench save` does it: rivals leave threads and processes."""
    return ask(order_of(name, folder), Hammered)[0]


@pytest.mark.parametrize("name", [OURS, pytest.param(OURS_WITHOUT_ROOM, marks=pytest.mark.alone)])
def test_no_snapshot_of_ours_is_torn(name: str, tmp_path: Path) -> None:
    assert hammered(name, tmp_path) == Hammered(NUM_BLOWS, NUM_BLOWS)


class Noting(InstrideWithoutRoom):
    """Says of each save what it took of the device."""

    taken_bytes: ClassVar[list[int]] = []

    def save(self, step: int) -> OurTicket:
        before = torch.cuda.memory_allocated()
        ticket = super().save(step)
        self.taken_bytes.append(torch.cuda.memory_allocated() - before)
        return ticket


@pytest.mark.alone
def test_under_the_hammer_a_full_gpu_is_full_and_every_blow_meets_a_copy_that_is_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(WAYS, "tested", Noting)
    late: list[bool] = []
    begin = LateCopy.begin

    def note(copy: LateCopy, shares: list[Share], promised: Storages) -> None:
        late.append(bool(shares))
        begin(copy, shares, promised)

    monkeypatch.setattr(LateCopy, "begin", note)
    monkeypatch.setattr(Noting, "taken_bytes", [])
    torch.cuda.empty_cache()
    assert hammer(order_of("tested", tmp_path), tmp_path) == Hammered(NUM_BLOWS, NUM_BLOWS)
    assert late == [True] * NUM_BLOWS
    assert max(Noting.taken_bytes) < MIB, "no snapshot lies on the device"
    torch.cuda.empty_cache()


@pytest.mark.parametrize("name", RIVALS)
def test_whether_a_rival_tears_is_told(name: str, tmp_path: Path) -> None:
    try:
        seen = hammered(name, tmp_path)
    except NotInstalledError as error:
        pytest.skip(str(error))  # rivals are of the group `bench`, and not every torch has them all
    if seen.is_torn:
        assert name not in SYNCHRONOUS, "nothing changes while it saves: the hammer is wrong"
        pytest.xfail(f"{name} TORN, {seen.num_whole} of {NUM_BLOWS} whole")


class EarlySave(TorchSave):
    """Copies at once, by a stream that does not wait for what was queued before."""

    def __init__(self, training: Training, folder: Path) -> None:
        super().__init__(training, folder)
        self._stream = torch.cuda.Stream()

    def save(self, step: int) -> Ticket:
        with torch.cuda.stream(self._stream):
            copies = [tensor.cpu() for tensor in self._training.tensors()]
        torch.save(copies, self._path)
        return Done()


@pytest.mark.parametrize("kind", [LateSave, EarlySave])
def test_the_hammer_sees_what_comes_too_late_and_what_comes_too_early(
    kind: type[NoSaving], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or a way that is whole above would show nothing."""
    monkeypatch.setitem(WAYS, "tested", kind)
    assert hammer(order_of("tested", tmp_path), tmp_path).num_whole == 0


def test_the_hammer_finds_what_waits_for_everything_whole(tmp_path: Path) -> None:
    assert hammer(order_of("torch.save", tmp_path), tmp_path).num_whole == NUM_BLOWS
