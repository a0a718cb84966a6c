"""Devices whose memory training needs for itself."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import instride
from tests.gpu.trainings import NEEDS_A_GPU, Holder, arena_of, await_locking

pytestmark = [*NEEDS_A_GPU, pytest.mark.alone]

GIB = 1 << 30


def test_memory_that_a_snapshot_used_is_there_for_training(tmp_path: Path) -> None:
    state = torch.zeros(GIB, dtype=torch.uint8, device="cuda")
    with instride.Saver(tmp_path, state=Holder(x=state)) as saver:
        saver.save(1).wait(120)
        left, _ = torch.cuda.mem_get_info()
        hungry = torch.empty(left - (64 << 20), dtype=torch.uint8, device="cuda")
        more = [torch.empty(256 << 20, dtype=torch.uint8, device="cuda") for _ in range(2)]
        assert hungry.numel() + sum(each.numel() for each in more) > left
        saver.save(2).wait(120)
        del hungry, more
    torch.cuda.empty_cache()


def test_a_device_that_training_fills_does_not_run_out_because_of_us(tmp_path: Path) -> None:
    """Nine tenths are activations at the peak; then a longer batch takes nearly all there is."""
    state = torch.zeros(6 * GIB, dtype=torch.uint8, device="cuda")
    _, total = torch.cuda.mem_get_info()

    def step(part: float) -> None:
        torch.empty(int(total * part) - state.numel(), dtype=torch.uint8, device="cuda").fill_(1)
        state.add_(1)

    torch.cuda.empty_cache()
    with instride.Saver(tmp_path, keep=instride.Keep(last=1), state=Holder(x=state)) as saver:
        for number in range(1, 4):
            step(0.9)
            pending = saver.save(number)
            step(0.9)
            torch.cuda.synchronize()
            saved = torch.load(pending.wait(120).path, map_location="cpu", mmap=True)
            assert bool((saved["state"]["x"][:: 1 << 20] == 2 * number - 1).all())
        torch.cuda.empty_cache()
        step(0.97)
        pending = saver.save(9)
        step(0.97)
        pending.wait(120)
    torch.cuda.empty_cache()


def test_nothing_is_kept_on_a_device_where_memory_is_scarce(tmp_path: Path) -> None:
    state = torch.zeros(2 * GIB, dtype=torch.uint8, device="cuda")
    torch.cuda.empty_cache()
    free, total = torch.cuda.mem_get_info()
    filling = torch.empty(free - total // 20, dtype=torch.uint8, device="cuda")
    before, _ = torch.cuda.mem_get_info()
    with instride.Saver(tmp_path, state=Holder(x=state)) as saver:
        saver.save(1).wait(120)
        saver.due(2)
        after, _ = torch.cuda.mem_get_info()
    assert before - after < 64 << 20
    del filling
    torch.cuda.empty_cache()


def test_a_graph_can_be_captured_when_memory_that_is_scarce_could_be_given_back(
    tmp_path: Path,
) -> None:
    """The allocator ends the process if it is."""
    state = torch.zeros(2 * GIB, dtype=torch.uint8, device="cuda")
    y = torch.zeros(1 << 20, device="cuda")
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    free, total = torch.cuda.mem_get_info()
    filling = torch.empty(free - total // 20, dtype=torch.uint8, device="cuda")
    with instride.Saver(tmp_path, state=Holder(x=state)) as saver:
        for step in range(1, 4):
            state.fill_(step)
            pending = saver.save(step)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                y += 1
                pending.wait(120)  # nothing is left to be done but that
                saver.due(step)
            saver.due(step)
            graph.replay()
            saved = torch.load(pending.wait().path, map_location="cpu", mmap=True)
            assert bool((saved["state"]["x"][:: 1 << 20] == step).all())
    del filling
    torch.cuda.empty_cache()


def test_memory_that_was_ours_does_not_count_as_that_of_training(tmp_path: Path) -> None:
    """Where it is scarce it is freed behind each save, and is there for the next one."""
    state = torch.zeros(2 * GIB, dtype=torch.uint8, device="cuda")
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    free, total = torch.cuda.mem_get_info()
    filling = torch.empty(free - total // 20, dtype=torch.uint8, device="cuda")
    with instride.Saver(tmp_path, state=Holder(x=state)) as saver:
        for step in range(4):
            saver.save(step).wait(120)
            saver.due(step)
        await_locking()
        assert arena_of(saver).locked_bytes == 0
    del filling
    torch.cuda.empty_cache()
