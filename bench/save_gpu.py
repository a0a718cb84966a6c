"""What a save costs on a GPU: `python -m bench.save_gpu [--layers 24 --width 2048] [--no-room]`.

Trains a GPT that synchronizes after every step, as many loops do, and prints a JSON object for
each figure: what preparing cost, each save (the call, all that the steps until it was durable took
beyond usual, the worst step), and the way back.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from statistics import median

import torch
from torch import Tensor, nn
from torch.nn import functional

import instride

VOCABULARY = 50_304
LENGTH = 1024
BATCH = 8
NUM_WARM = 25
NUM_BEFORE = 18
LEFT_BYTES = 4 << 30
"""What is left free on the device with `--no-room`."""


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.heads = width // 64
        self.before = nn.LayerNorm(width)
        self.mixed = nn.Linear(width, 3 * width)
        self.joined = nn.Linear(width, width)
        self.think = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        mixed = self.mixed(self.before(x)).view(batch, length, 3, self.heads, -1)
        query, key, value = mixed.permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.joined(seen.transpose(1, 2).reshape(batch, length, width))
        return x + self.think(x)


class GPT(nn.Module):
    def __init__(self, layers: int, width: int) -> None:
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, width)
        self.places = nn.Embedding(LENGTH, width)
        self.blocks = nn.Sequential(*(Block(width) for _ in range(layers)))
        self.last = nn.LayerNorm(width)

    def forward(self, text: Tensor) -> Tensor:
        places = torch.arange(text.shape[1], device=text.device)
        x = self.blocks(self.words(text) + self.places(places))
        return functional.linear(self.last(x), self.words.weight)


class Loop:
    def __init__(self, layers: int, width: int) -> None:
        torch.manual_seed(0)
        self.model = GPT(layers, width).cuda()
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4, fused=True)
        self._texts = torch.randint(0, 50_000, (64, BATCH, LENGTH + 1)).pin_memory()
        self._num_steps = 0

    def step(self) -> float:
        start_s = time.perf_counter()
        text = self._texts[self._num_steps % 64].cuda(non_blocking=True)
        self._num_steps += 1
        with torch.autocast("cuda", torch.bfloat16):
            guesses = self.model(text[:, :-1]).flatten(0, 1)
            loss = functional.cross_entropy(guesses, text[:, 1:].flatten())
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        torch.cuda.synchronize()
        return time.perf_counter() - start_s


def say(**figures: object) -> None:
    print(json.dumps(figures), flush=True)


def measure_save(loop: Loop, saver: instride.Saver, number: int) -> None:
    base_s = median(loop.step() for _ in range(NUM_BEFORE))
    start_s = time.perf_counter()
    pending = saver.save(number)
    call_s = time.perf_counter() - start_s
    steps_s = []
    while not pending.done:
        steps_s.append(loop.step())
    total_s = time.perf_counter() - start_s
    saved = pending.wait()
    say(
        save=number,
        call_s=call_s,
        cost_s=total_s - len(steps_s) * base_s,
        base_step_s=base_s,
        worst_step_s=max(steps_s),
        num_steps=len(steps_s),
        durable_s=saved.timings.durable_s,
        bytes=saved.bytes,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--layers", type=int, default=24)
    parser.add_argument("--width", type=int, default=2048)
    parser.add_argument("--saves", type=int, default=3)
    parser.add_argument("--no-room", action="store_true", help="fill the device's memory first")
    parser.add_argument("--folder", type=Path, default=Path())
    options = parser.parse_args()
    loop = Loop(options.layers, options.width)
    base_s = median(loop.step() for _ in range(NUM_WARM))
    free, _ = torch.cuda.mem_get_info()
    num_filled = free - LEFT_BYTES if options.no_room else 0
    filling = torch.empty(num_filled, dtype=torch.uint8, device="cuda")
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        start_s = time.perf_counter()
        saver = instride.Saver(
            folder, model=loop.model, optimizer=loop.optimizer, keep=instride.Keep(last=1)
        )
        num_steps = 60
        for _ in range(num_steps):
            loop.step()
        say(prepare_cost_s=time.perf_counter() - start_s - num_steps * base_s, filled=len(filling))
        for number in range(1, options.saves + 1):
            measure_save(loop, saver, number)
        start_s = time.perf_counter()
        saver.restore()
        torch.cuda.synchronize()
        say(restore_s=time.perf_counter() - start_s)
        saver.close()


if __name__ == "__main__":
    main()
