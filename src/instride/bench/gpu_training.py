"""The training of `bench save --device cuda`: a GPT as people train it, on random text."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from instride.bench.training import LEARNING_RATE, Training

VOCABULARY = 50_304
LENGTH = 1024
HEAD_WIDTH = 64
NUM_TEXTS = 16
NUM_QUEUED = 40
"""Products of large matrices, a millisecond and more each: a copy that does not wait shows."""


class Size(NamedTuple):
    """One of the sizes that GPTs come in."""

    num_layers: int
    width: int
    batch: int

    @property
    def num_params(self) -> int:
        return self.num_layers * 12 * self.width**2 + (VOCABULARY + LENGTH) * self.width


SIZES = (Size(2, 128, 4), Size(12, 768, 32), Size(24, 1024, 16), Size(24, 2048, 8))


def size_for(num_params: int) -> Size:
    """The size nearest to a number of parameters."""
    return min(SIZES, key=lambda size: abs(size.num_params - num_params))


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.before = nn.LayerNorm(width)
        self.mixed = nn.Linear(width, 3 * width)
        self.joined = nn.Linear(width, width)
        self.think = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        mixed = self.mixed(self.before(x)).view(batch, length, 3, width // HEAD_WIDTH, -1)
        query, key, value = mixed.permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.joined(seen.transpose(1, 2).reshape(batch, length, width))
        thought: Tensor = x + self.think(x)
        return thought


class Gpt(nn.Module):
    def __init__(self, size: Size) -> None:
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, size.width)
        self.places = nn.Embedding(LENGTH, size.width)
        self.blocks = nn.Sequential(*(Block(size.width) for _ in range(size.num_layers)))
        self.last = nn.LayerNorm(size.width)

    def forward(self, text: Tensor) -> Tensor:
        places = torch.arange(text.shape[1], device=text.device)
        x = self.blocks(self.words(text) + self.places(places))
        return functional.linear(self.last(x), self.words.weight)


class GpuTraining(Training):
    """A GPT in fp32 under bf16 autocast, with the fused AdamW; a loop that synchronizes or not."""

    def __init__(self, num_params: int, device: str, *, is_synced: bool) -> None:
        torch.manual_seed(0)
        size = size_for(num_params)
        with torch.device(device):
            self.model = Gpt(size)
        self.optimizer = torch.optim.AdamW(
            self.model.parameters(), lr=LEARNING_RATE, fused=device == "cuda"
        )
        texts = torch.randint(0, VOCABULARY, (NUM_TEXTS, size.batch, LENGTH + 1))
        self._texts = texts.pin_memory() if device == "cuda" else texts
        self._device = device
        self._is_synced = is_synced
        self._num_steps = 0
        self._other = torch.cuda.Stream() if device == "cuda" else None

    def step(self, guard: AbstractContextManager[object]) -> float:
        start_s = time.perf_counter()
        self._forward_and_backward()
        with guard:
            self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        if self._is_synced:
            self.settle()
        return time.perf_counter() - start_s

    def _forward_and_backward(self) -> None:
        text = self._texts[self._num_steps % NUM_TEXTS].to(self._device, non_blocking=True)
        self._num_steps += 1
        with torch.autocast(self._device, torch.bfloat16):
            guesses = self.model(text[:, :-1]).flatten(0, 1)
            loss = functional.cross_entropy(guesses, text[:, 1:].flatten())
        loss.backward()

    def settle(self) -> float:
        start_s = time.perf_counter()
        if self._device == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter() - start_s

    def forward_and_backward_s(self) -> float:
        """What of a step passes before the optimizer may change anything."""
        self.settle()
        start_s = time.perf_counter()
        self._forward_and_backward()
        self.settle()
        took_s = time.perf_counter() - start_s
        self.optimizer.zero_grad(set_to_none=True)
        return took_s

    def queue(self) -> None:
        """Leave work to the device that what comes next has to wait for."""
        if self._other is not None:
            large = torch.randn(8192, 8192, device=self._device, dtype=torch.bfloat16)
            for _ in range(NUM_QUEUED):
                large @ large

    def _fill(self, value: float) -> float:
        """By two streams, one after the other, as a careful program would."""
        tensors = self.tensors()
        with torch.no_grad():
            if self._other is None:
                torch._foreach_copy_(tensors, [torch.full_like(each, value) for each in tensors])
                return value
            for tensor in tensors[::2]:
                tensor.fill_(value)
            here = torch.cuda.current_stream()
            self._other.wait_stream(here)
            with torch.cuda.stream(self._other):
                for tensor in tensors[1::2]:
                    tensor.fill_(value)
            here.wait_stream(self._other)
        return value


def training_on(device: str, num_params: int, *, is_synced: bool = True) -> Training:
    if device == "cpu":
        return Training(num_params)
    return GpuTraining(num_params, device, is_synced=is_synced)
