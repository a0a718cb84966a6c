"""Devices whose memory training needs for itself."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import instride
from tests.gpu.holding import Holder
from tests.gpu.trainings import NEEDS_A_GPU, arena_of, await_locking

pytestmark = [*NEEDS_A_GPU, pytest.mark.alone]

GIB = 1 << 30


def assert_filled(pending: instride.Pending, value: int) -> None:
    """Every byte of a saved state is the same. On the host: there is no memory to compare with on a
    device that is full."""
    saved = torch.load(pending.wait(120).path, map_location="cpu", mmap=True)
    assert [int(end) for end in torch.aminmax(saved["state"]["x"])] == [value, value]


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


class Filling:
    """A training that takes a part of the device at the peak of a step, its state among it."""

    def __init__(self) -> None:
        self.state = torch.zeros(6 * GIB, dtype=torch.uint8, device="cuda")
        _, self._total = torch.cuda.mem_get_info()
        self._num_steps = 0
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()

    def step(self, part: float) -> None:
        num_bytes = int(self._total * part) - self.state.numel()
        torch.empty(num_bytes, dtype=torch.uint8, device="cuda").fill_(1)
        self.state.add_(1)
        self._num_steps += 1

    def save(self, saver: instride.Saver, number: int, *, finds_room: bool) -> instride.Pending:
        pending = saver.save(number)
        has_copy = torch.cuda.memory_allocated() >= 2 * self.state.numel()
        assert has_copy == finds_room, "a snapshot lies on the device, or it does not"
        return pending


def test_a_device_that_training_fills_does_not_run_out_because_of_us(tmp_path: Path) -> None:
    """Nine tenths are activations at the peak; then a longer batch takes nearly all there is."""
    training = Filling()
    holder, keep = Holder(x=training.state), instride.Keep(last=1)
    with instride.Saver(tmp_path, keep=keep, state=holder) as saver:
        for number in range(1, 4):
            training.step(0.9)
            pending = training.save(saver, number, finds_room=True)
            training.step(0.9)  # while the snapshot leaves
            assert_filled(pending, 2 * number - 1)
        saver.due(4)
        training.step(0.97)
        pending = training.save(saver, 9, finds_room=False)
        training.step(0.97)
        assert_filled(pending, 7)
    del training, holder
    torch.cuda.empty_cache()


def test_a_step_that_needs_more_than_any_before_runs_out_only_beside_a_snapshot(
    tmp_path: Path,
) -> None:
    """What is said in the manual: nobody can know of it. The save is whole all the same, and once
    it has left the device, the same step finds its memory."""
    training = Filling()
    with instride.Saver(tmp_path, state=Holder(x=training.state)) as saver:
        training.step(0.9)
        pending = training.save(saver, 1, finds_room=True)
        with pytest.raises(torch.OutOfMemoryError):
            training.step(0.97)
        assert_filled(pending, 1)
        saver.due(2)
        training.step(0.97)
        assert_filled(training.save(saver, 2, finds_room=False), 2)
    del training
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
            assert_filled(pending, step)
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
