"""A model whose own activations fill a device, with batches of many lengths."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import instride
from tests.gpu.trainings import NEEDS_A_GPU, assert_same

pytestmark = [*NEEDS_A_GPU, pytest.mark.alone]

WIDTH = 5120
NUM_LAYERS = 24
"""Of fp32 weights with two moments each: 7.5 GB of state, a twentieth of an H200."""
PARTS = (1.0, 0.7, 0.45, 1.0)
"""Of the longest batch: pieces of memory come in other sizes each time, as with real text."""


class Deep:
    def __init__(self) -> None:
        torch.manual_seed(0)
        with torch.device("cuda"):
            layers = [nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(NUM_LAYERS)]
        self.model = nn.Sequential(*(each for layer in layers for each in (layer, nn.GELU())))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), fused=True)
        self.state_bytes = 3 * sum(4 * each.numel() for each in self.model.parameters())

    def step(self, num_tokens: int) -> None:
        batch = torch.randn(num_tokens, WIDTH, device="cuda", dtype=torch.bfloat16)
        with torch.autocast("cuda", torch.bfloat16):
            self.model(batch).square().mean().backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)

    def num_tokens_for(self, num_bytes: int) -> int:
        """How long a batch is that takes so much at the peak. Shorter ones would not tell: their
        activations are too small for gradients to take their places."""
        peaks = []
        for num_tokens in (16384, 16384, 32768):  # the first step makes the moments
            begin_anew()
            self.step(num_tokens)
            peaks.append(torch.cuda.max_memory_reserved())
        per_token = (peaks[2] - peaks[1]) / 16384
        return 32768 + int((num_bytes - peaks[2]) / per_token)


def to_host(state: Any) -> Any:
    """A copy that takes no memory of the device, which is full."""
    if isinstance(state, dict):
        return {key: to_host(value) for key, value in state.items()}
    if isinstance(state, list):
        return [to_host(value) for value in state]
    return state.detach().to("cpu", copy=True) if isinstance(state, torch.Tensor) else state


def begin_anew() -> None:
    gc.collect()  # torch keeps the first optimizer of a process, and what it has, until then
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()


@pytest.mark.parametrize(("part", "has_room"), [(0.9, True), (0.95, False)])
def test_no_step_runs_out_that_would_not_have_run_out_without_us(
    part: float, has_room: bool, tmp_path: Path
) -> None:
    """Where a snapshot fits beside the activations, and where only a part of it does."""
    deep = Deep()
    _, total = torch.cuda.mem_get_info()
    longest = deep.num_tokens_for(int(part * total))
    lengths = [int(longest * part) for part in PARTS]
    begin_anew()
    for num_tokens in lengths:
        deep.step(num_tokens)  # without us
    assert torch.cuda.max_memory_reserved() > (part - 0.03) * total
    begin_anew()
    parts = {"model": deep.model, "optimizer": deep.optimizer}
    last = len(lengths) * 2 - 2
    with instride.Saver(tmp_path, keep=instride.Keep(last=1), **parts) as saver:
        for number, num_tokens in enumerate(lengths * 2):
            deep.step(num_tokens)
            if number == last:
                # Before the call: behind it, a step comes while the snapshot is on its way.
                expected = {name: to_host(part.state_dict()) for name, part in parts.items()}
            if number % 2 == 0:
                before = torch.cuda.memory_allocated()
                pending = saver.save(number)
                after = torch.cuda.memory_allocated()
                assert (after >= 2 * deep.state_bytes) == has_room
                if number == 0:  # later ones may take the memory of the one before
                    assert after > before, "a part of the snapshot lies on the device at least"
    saved = torch.load(pending.wait(120).path, map_location="cpu", mmap=True)
    assert_same({name: saved[name] for name in parts}, expected)
    del deep, parts, saver
    begin_anew()
