"""Trains a tiny GPT on the CPU with text it makes up itself, and logs as nanoGPT does.

A stage for `instride explain`: with `--compressor naive` a second program compresses every
checkpoint in the background, as many setups do, and the steps after a save become slow. The
evaluation and the save happen at the top of an iteration and are in the time printed for it.

    python examples/train_tiny_gpt.py --compressor naive --out demo-out > train.log
    instride explain train.log

With `--saver instride` the same training saves without stopping, and can be resumed; with `--pack`
its checkpoints are compressed too.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

# Threads that spin while they wait make a busy machine ten times slower, not three.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import torch
from torch import Tensor, nn
from torch.nn import functional

import instride

VOCABULARY = 128
PROMISED_FLOPS = 312e12
"""What nanoGPT measures its mfu against: the peak of an A100 in bfloat16."""
PEOPLE = ("Ada", "Emmy", "Grace", "Hedy", "Ida", "Katherine", "Lise", "Mary")
THINGS = ("apples", "kites", "lamps", "maps", "pencils", "stones", "tickets", "violins")


def made_up_text(num_characters: int, seed: int) -> Tensor:
    """Little sums in words: enough order for the loss to fall, and nothing to download."""
    dice = random.Random(seed)
    sentences: list[str] = []
    length = 0
    while length < num_characters:
        have, get = dice.randrange(50), dice.randrange(50)
        sentences.append(
            f"{dice.choice(PEOPLE)} has {have} {dice.choice(THINGS)} and gets {get} more. "
            f"That makes {have + get}.\n"
        )
        length += len(sentences[-1])
    return torch.tensor(list("".join(sentences).encode()))


class Block(nn.Module):
    """Attention to what came before, then a small network for each character."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before_attention = nn.LayerNorm(width)
        self.query_key_value = nn.Linear(width, 3 * width)
        self.joined = nn.Linear(width, width)
        self.think = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        mixed = self.query_key_value(self.before_attention(x))
        query, key, value = mixed.view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.joined(seen.transpose(1, 2).reshape(batch, length, width))
        return x + self.think(x)


class TinyGPT(nn.Module):
    """Reads characters, guesses the next one at every place."""

    def __init__(self, layers: int, width: int, context: int) -> None:
        super().__init__()
        self.characters = nn.Embedding(VOCABULARY, width)
        self.places = nn.Embedding(context, width)
        self.blocks = nn.Sequential(*(Block(width, heads=4) for _ in range(layers)))
        self.guess = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, VOCABULARY))

    def forward(self, text: Tensor, following: Tensor) -> Tensor:
        x = self.characters(text) + self.places(torch.arange(text.shape[1]))
        guesses = self.guess(self.blocks(x))
        return functional.cross_entropy(guesses.flatten(0, 1), following.flatten())


class Training:
    """The model, its optimizer and its text."""

    def __init__(self, options: argparse.Namespace) -> None:
        torch.manual_seed(options.seed)
        torch.set_num_threads(os.cpu_count() or 1)
        self.options = options
        self.texts = {
            "train": made_up_text(200_000, options.seed),
            "val": made_up_text(20_000, options.seed + 1),
        }
        self.model = TinyGPT(options.layers, options.width, options.context)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        self.saver: instride.Saver | None = None
        if options.saver == "instride":
            self.saver = instride.Saver(
                options.out,
                model=self.model,
                optimizer=self.optimizer,
                keep=instride.Keep(last=2),
                pack=options.pack,
            )
        self.num_parameters: int = sum(p.numel() for p in self.model.parameters())
        self.tokens_per_step: int = options.batch * options.context

    def batch_of(self, split: str) -> tuple[Tensor, Tensor]:
        text, context = self.texts[split], self.options.context
        starts = torch.randint(len(text) - context - 1, (self.options.batch,))
        places = starts[:, None] + torch.arange(context)
        return text[places], text[places + 1]

    def step(self) -> float:
        loss = self.model(*self.batch_of("train"))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return float(loss.item())

    @torch.no_grad()
    def evaluate(self) -> dict[str, float]:
        num_batches = self.options.eval_batches
        return {
            split: sum(float(self.model(*self.batch_of(split))) for _ in range(num_batches))
            / num_batches
            for split in self.texts
        }

    def resume(self) -> int:
        """The step to run next."""
        return self.saver.restore() if self.saver is not None else 0

    def save(self, step: int) -> None:
        if self.saver is not None:
            self.saver.save(step - 1)  # at the top of a step: the one before is the last one done
            return
        state = {
            "step": step,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
        }
        torch.save(state, self.options.out / f"step_{step:06d}.pt")

    def mfu(self, seconds: float) -> float:
        return 6 * self.num_parameters * self.tokens_per_step / seconds / PROMISED_FLOPS


def train(training: Training) -> None:
    options = training.options
    print(f"tokens per iteration will be: {training.tokens_per_step:,}")
    print(f"number of parameters: {training.num_parameters / 1e6:.2f}M", flush=True)
    mfu, loss = -1.0, 0.0
    started = time.perf_counter()
    for step in range(training.resume(), options.steps):
        if step % options.eval_interval == 0:
            losses = training.evaluate()
            print(f"step {step}: train loss {losses['train']:.4f}, val loss {losses['val']:.4f}")
        if step % options.save_interval == 0 and step > 0:
            print(f"saving checkpoint to {options.out}", flush=True)
            training.save(step)
        loss = training.step()
        now = time.perf_counter()
        seconds, started = now - started, now
        if step % options.log_interval == 0:
            if step >= 5 * options.log_interval:
                new = training.mfu(seconds)
                mfu = new if mfu < 0 else 0.9 * mfu + 0.1 * new
            print(
                f"iter {step}: loss {loss:.4f}, time {seconds * 1e3:.2f}ms, mfu {mfu * 100:.2f}%",
                flush=True,
            )
        show_progress(step, options, loss)
    if training.saver is not None:
        training.saver.close()
    if not math.isfinite(loss):
        raise SystemExit(f"the loss is {loss}")


def show_progress(step: int, options: argparse.Namespace, loss: float) -> None:
    """One line on stderr while stdout goes to a file; off a terminal, a line now and then."""
    is_last, on_terminal = step + 1 == options.steps, sys.stderr.isatty()
    start = "\r" if on_terminal else ""
    if options.progress and (on_terminal or is_last or (step + 1) % 100 == 0):
        print(
            start + f"training: step {step + 1} of {options.steps}, loss {loss:.2f} ",
            end="\n" if is_last or not on_terminal else "",
            file=sys.stderr,
            flush=True,
        )


@contextlib.contextmanager
def compressor(kind: str, directory: Path) -> Iterator[None]:
    if kind == "none":
        yield
        return
    program = Path(__file__).with_name("naive_compressor.py")
    with subprocess.Popen([sys.executable, str(program), str(directory)]) as process:
        try:
            yield
        finally:
            process.terminate()


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("demo-out"), help="for checkpoints")
    parser.add_argument("--saver", choices=("torch", "instride"), default="torch")
    parser.add_argument("--pack", action="store_true", help="with --saver instride: in less room")
    parser.add_argument("--compressor", choices=("none", "naive"), default="none")
    parser.add_argument("--progress", action="store_true", help="a short line on stderr as well")
    for name, default in (
        ("steps", 260),
        ("log-interval", 1),
        ("eval-interval", 50),
        ("eval-batches", 10),
        ("save-interval", 100),
        ("layers", 4),
        ("width", 192),
        ("context", 128),
        ("batch", 6),
        ("seed", 1),
    ):
        parser.add_argument(f"--{name}", type=int, default=default, help=f"default: {default}")
    return parser.parse_args()


def main() -> None:
    options = parse()
    options.out.mkdir(parents=True, exist_ok=True)
    with compressor(options.compressor, options.out):
        train(Training(options))


if __name__ == "__main__":
    main()
