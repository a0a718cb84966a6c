"""What of a plan lies on a device, cut to size. Memory of the host stands for that of a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import pytest

torch = pytest.importorskip("torch")

from instride.snapshot.arena import Arena  # noqa: E402 - needs torch
from instride.snapshot.blocks import Block, cut, grouped  # noqa: E402
from instride.snapshot.locked import REGISTERED_BYTES  # noqa: E402 - needs torch
from instride.snapshot.planning import Plan, waited_for  # noqa: E402

pytestmark = pytest.mark.torch
HERE = torch.device("cpu")
SIZES = (1, 7, 300_001, 5 << 20, 3)


@pytest.fixture
def arena() -> Iterator[Arena]:
    made = Arena()
    yield made
    made.close()


def planned(arena: Arena) -> tuple[Plan, list[Block]]:
    kinds = (torch.float32, torch.bfloat16, torch.bool, torch.float64)
    tensors = [torch.ones(size, dtype=kind) for size in SIZES for kind in kinds]
    for number, tensor in enumerate(tensors):
        tensor.view(torch.uint8).random_(0, 2).add_(number % 2 if tensor.dtype.itemsize > 1 else 0)
    plan = Plan(tensors, detached=True)
    arena.grow(plan.layout.num_bytes)
    return plan, cut(plan, arena.memory, HERE)


def test_what_goes_to_the_device_comes_back_to_its_place(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("instride.snapshot.blocks.BLOCK_BYTES", REGISTERED_BYTES)
    plan, blocks = planned(arena)
    assert len(blocks) > 2
    for block in blocks:
        staged = torch.full((REGISTERED_BYTES,), 255, dtype=torch.uint8)
        for kind, (places, words) in block.inside(staged):
            assert {each.dtype for each in chain(places, words)} == {kind}
            torch._foreach_copy_(places, words)
        torch._foreach_copy_(*block.to_host(staged))
    for record, source in zip(plan.layout.records, plan.sources, strict=True):
        assert torch.equal(arena.memory[record.data_offset : record.data_end], source)


def test_what_goes_over_the_bus_is_each_storage_once(arena: Arena) -> None:
    plan, blocks = planned(arena)
    for block in blocks:
        for share in block.shares:
            torch._foreach_copy_(*share.over_the_bus)
    for record, source in zip(plan.layout.records, plan.sources, strict=True):
        assert torch.equal(arena.memory[record.data_offset : record.data_end], source)


def test_no_piece_crosses_from_one_registration_into_the_next(arena: Arena) -> None:
    _, blocks = planned(arena)
    start = arena.memory.data_ptr()
    staged = torch.empty(arena.num_bytes, dtype=torch.uint8)
    ways = [block.to_host(staged)[0] for block in blocks]
    ways += [share.over_the_bus[0] for block in blocks for share in block.shares]
    for place in chain.from_iterable(ways):
        first = place.data_ptr() - start
        assert first // REGISTERED_BYTES == (first + place.numel() - 1) // REGISTERED_BYTES


def test_memory_at_an_odd_address_is_copied_in_narrower_words(arena: Arena) -> None:
    odd = torch.frombuffer(bytearray(range(17)), dtype=torch.uint8, offset=1)
    plan = Plan([odd], detached=True)
    arena.grow(plan.layout.num_bytes)
    (share,) = cut(plan, arena.memory, HERE)[0].shares
    assert share.words.data_ptr() % share.words.dtype.itemsize == 0
    assert torch.equal(share.words.view(torch.uint8), odd)


def test_groups_hold_everything_in_order_and_no_more_than_was_asked_for() -> None:
    pieces = [torch.empty(size, dtype=torch.uint8) for size in (5, 1, 1, 9, 2)]
    groups = list(grouped([(pieces, pieces)], 6))
    assert [[piece.numel() for piece in many] for _, many in groups] == [[5, 1], [1], [9], [2]]


def test_only_the_streams_of_cuda_order_copies_behind_the_call() -> None:
    devices = [torch.device(name) for name in ("cpu", "cuda:1", "xpu", "mps", "xpu:1")]
    assert waited_for(devices) == ["mps", "xpu"]


def test_devices_of_rocm_are_waited_for_although_they_are_called_cuda(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.version, "hip", "6.4")
    assert waited_for([torch.device("cuda")]) == ["cuda"]
