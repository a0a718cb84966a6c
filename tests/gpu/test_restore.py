"""The way back: into the memory that is there, and no more than that."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import instride
from tests.gpu.trainings import NEEDS_A_GPU, assert_same, busy, make, make_model, one_step

pytestmark = NEEDS_A_GPU

SMALL_SEGMENT_BYTES = 2 << 20
"""What the allocator of the GPU asks for when a small tensor finds no room."""


def test_restoring_fills_the_parameters_that_are_there(tmp_path: Path) -> None:
    model, optimizer = make(fused=True)
    one_step(model, optimizer)
    with instride.Saver(tmp_path, model=model, optimizer=optimizer) as saver:
        wanted = [p.detach().clone() for p in model.parameters()]
        addresses = [p.data_ptr() for p in model.parameters()]
        saver.save(1).wait(60)
        one_step(model, optimizer)
        saver.restore()

    assert [p.data_ptr() for p in model.parameters()] == addresses
    assert_same([p.detach() for p in model.parameters()], wanted)
    assert all(state["exp_avg"].is_cuda for state in optimizer.state.values())


@pytest.mark.parametrize("has_stepped", [False, True], ids=["a new process", "in mid-run"])
def test_restoring_takes_no_memory_twice_and_leaves_no_holes(
    has_stepped: bool, tmp_path: Path
) -> None:
    def wide() -> tuple[torch.nn.Module, torch.optim.Optimizer]:
        model = torch.nn.Sequential(*(torch.nn.Linear(4096, 4096) for _ in range(8))).cuda()
        return model, torch.optim.AdamW(model.parameters(), fused=True)

    def step() -> None:
        model(torch.randn(8, 4096, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()

    model, optimizer = wide()
    step()
    with instride.Saver(tmp_path, model=model, optimizer=optimizer) as saver:
        step()
        saver.save(1).wait(60)
    if not has_stepped:
        del model, optimizer
    torch.cuda.empty_cache()
    reserved_before = 0
    if not has_stepped:
        model, optimizer = wide()
        weights = sum(p.numel() * 4 for p in model.parameters())
    else:
        weights = 0
        step()
        reserved_before = torch.cuda.memory_reserved()
    with instride.Saver(tmp_path, model=model, optimizer=optimizer) as saver:
        torch.cuda.reset_peak_memory_stats()
        start = torch.cuda.memory_allocated()
        assert saver.restore() == 2
        assert torch.cuda.max_memory_allocated() - start <= 2 * weights + (64 << 20)
        step()
        reserved = torch.cuda.memory_reserved()
        for _ in range(5):
            step()
        assert torch.cuda.memory_reserved() == reserved
        if has_stepped:
            assert reserved - reserved_before <= SMALL_SEGMENT_BYTES


def test_what_is_still_queued_is_not_written_over_what_is_restored(
    queue: torch.Tensor, tmp_path: Path
) -> None:
    model = make_model()
    with instride.Saver(tmp_path, model=model) as saver:
        wanted = [p.detach().clone() for p in model.parameters()]
        saver.save(1).wait(60)
        torch.cuda.synchronize()
        with torch.cuda.stream(torch.cuda.Stream()), torch.no_grad():
            for _ in range(4):  # longer than it takes to open the file
                busy(queue)
            for parameter in model.parameters():
                parameter.zero_()
            saver.restore()
        torch.cuda.synchronize()

    assert_same([p.detach() for p in model.parameters()], wanted)


def test_a_model_with_code_of_its_own_gets_its_state_through_the_host(tmp_path: Path) -> None:
    model = make_model()
    model.register_load_state_dict_pre_hook(lambda *_: None)
    state_bytes = sum(tensor.nbytes for tensor in model.state_dict().values())
    wanted = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    with instride.Saver(tmp_path, model=model) as saver:
        saver.save(1).wait(60)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()

    with instride.Saver(tmp_path, model=model) as saver:
        torch.cuda.reset_peak_memory_stats()
        start = torch.cuda.memory_allocated()
        saver.restore()
        assert torch.cuda.max_memory_allocated() - start < state_bytes // 4

    assert_same(dict(model.state_dict()), wanted)


def test_what_a_gpu_has_no_room_for_stays_on_the_host(tmp_path: Path) -> None:
    model = make_model()
    first = next(model.parameters())
    wanted = first.detach().clone()
    pieces = {name: torch.ones(64 << 20, dtype=torch.uint8, device="cuda") for name in "abcd"}
    with instride.Saver(tmp_path, model=model) as saver:
        saver.save(1, extra=pieces).wait(60)
    del pieces
    with torch.no_grad():
        first.zero_()
    torch.cuda.empty_cache()
    room_bytes = torch.cuda.memory_reserved() + (150 << 20)

    with instride.Saver(tmp_path, model=model) as saver:
        start = torch.cuda.memory_allocated()
        total_bytes = torch.cuda.get_device_properties(first.device).total_memory
        torch.cuda.set_per_process_memory_fraction(room_bytes / total_bytes)
        try:
            saver.restore()
        finally:
            torch.cuda.set_per_process_memory_fraction(1.0)
        assert torch.cuda.memory_allocated() - start < SMALL_SEGMENT_BYTES

    assert torch.equal(first, wanted)
    assert all(piece.device.type == "cpu" and piece.all() for piece in saver.extra.values())
