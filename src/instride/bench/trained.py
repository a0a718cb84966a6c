"""Checkpoints of a real, small training, for measuring what packing makes of them.

Random numbers would flatter or wrong every method: exponents of weights, of moments and of what
ten steps change are spread as training spreads them. The text is the source of Python's own
library, which is everywhere Python is.
"""

from __future__ import annotations

import json
import math
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

VOCABULARY = 256
CONTEXT = 64
BATCH = 8
HEADS = 6
TEXT_BYTES = 8 << 20
PEAK_RATE = 6e-4
NUM_WARM = 20
NUM_BETWEEN = 10
"""Steps between a base and what is packed against it."""
CHANGED_SHARE = 0.05
"""Where the rest is frozen."""
NUM_MOMENTS = 2
"""Of Adam, for each weight that is trained."""


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.before_attention = nn.LayerNorm(width)
        self.query_key_value = nn.Linear(width, 3 * width)
        self.joined = nn.Linear(width, width)
        self.before_thinking = nn.LayerNorm(width)
        self.wider = nn.Linear(width, 4 * width)
        self.narrower = nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        mixed = self.query_key_value(self.before_attention(x))
        query, key, value = mixed.view(batch, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.joined(seen.transpose(1, 2).reshape(batch, length, width))
        return x + self.narrower(functional.gelu(self.wider(self.before_thinking(x))))


class Model(nn.Module):
    """A GPT over bytes, started as GPT-2 is."""

    def __init__(self, num_layers: int, width: int) -> None:
        super().__init__()
        self.characters = nn.Embedding(VOCABULARY, width)
        self.places = nn.Embedding(CONTEXT, width)
        self.blocks = nn.Sequential(*(Block(width) for _ in range(num_layers)))
        self.last = nn.LayerNorm(width)
        self.guess = nn.Linear(width, VOCABULARY, bias=False)
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1:
                is_last_of_block = "joined" in name or "narrower" in name
                scale = math.sqrt(2 * num_layers) if is_last_of_block else 1.0
                nn.init.normal_(parameter, std=0.02 / scale)

    def forward(self, text: Tensor) -> Tensor:
        x = self.characters(text) + self.places(torch.arange(text.shape[1]))
        guesses: Tensor = self.guess(self.last(self.blocks(x)))
        return guesses


class Training:
    """A model, its optimizer and its text; the rate falls as a cosine, to a tenth."""

    def __init__(self, num_layers: int, width: int, num_steps: int) -> None:
        torch.manual_seed(0)
        self.model = Model(num_layers, width)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=PEAK_RATE)
        self._text = library_text()
        self._num_steps = num_steps
        self._num_done = 0
        self.loss = math.inf

    def train(self, num_steps: int) -> None:
        for _ in range(num_steps):
            self._step()

    def freeze(self, *, by_bytes: bool) -> None:
        """Go on with few of the parameters, as adapters do: so many that a twentieth of what is
        saved changes, their moments included; or a twentieth of the parameters."""
        num_params = sum(p.numel() for p in self.model.parameters())
        more = NUM_MOMENTS * (1 - CHANGED_SHARE) if by_bytes else 0
        budget = num_params * CHANGED_SHARE / (1 + more)
        trained = []
        for parameter in reversed(list(self.model.parameters())):
            parameter.requires_grad_(False)
            if parameter.numel() <= 1.1 * budget:
                budget -= parameter.numel()
                trained.append(parameter.requires_grad_(True))
        self.optimizer = torch.optim.AdamW(trained, lr=PEAK_RATE)

    def _step(self) -> None:
        starts = torch.randint(len(self._text) - CONTEXT - 1, (BATCH,))
        places = starts[:, None] + torch.arange(CONTEXT + 1)
        text = self._text[places].long()
        loss = functional.cross_entropy(
            self.model(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten()
        )
        self.optimizer.zero_grad()
        loss.backward()
        for group in self.optimizer.param_groups:
            group["lr"] = PEAK_RATE * self._rate()
        self.optimizer.step()
        self.loss = loss.item()
        self._num_done += 1

    def _rate(self) -> float:
        warm = min(1.0, (self._num_done + 1) / NUM_WARM)
        done = min(1.0, self._num_done / self._num_steps)
        return warm * (0.55 + 0.45 * math.cos(math.pi * done))


def library_text() -> Tensor:
    """The text of Python's library, in the order of its names."""
    text = bytearray()
    for path in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        text += path.read_bytes()
        if len(text) >= TEXT_BYTES:
            break
    return torch.frombuffer(text, dtype=torch.uint8)


def write_checkpoints(folder: Path, num_layers: int, width: int, num_steps: int) -> float:
    """Train, and leave pairs of checkpoints ten steps apart; returns the loss that was reached."""
    training = Training(num_layers, width, num_steps)
    training.train(num_steps)
    for when in ("base", "next"):
        weights = training.model.state_dict()
        torch.save(weights, folder / f"fp32-{when}.pt")
        halves = {name: tensor.bfloat16() for name, tensor in weights.items()}
        torch.save(halves, folder / f"bf16-{when}.pt")
        state = {"model": weights, "optimizer": training.optimizer.state_dict()}
        torch.save(state, folder / f"adam-{when}.pt")
        training.train(NUM_BETWEEN if when == "base" else 0)
    loss = training.loss
    for name, by_bytes in (("frozen", True), ("adapters", False)):
        training.freeze(by_bytes=by_bytes)
        training.train(NUM_BETWEEN)
        for when in ("base", "next"):
            weights, optimizer = training.model.state_dict(), training.optimizer.state_dict()
            torch.save({"model": weights, "optimizer": optimizer}, folder / f"{name}-{when}.pt")
            training.train(NUM_BETWEEN if when == "base" else 0)
    return loss


def enlarge(source: Path, target: Path, size_bytes: int) -> None:
    """The tensors of a checkpoint again and again, as safetensors, until a file is that large."""
    named = dict(tensors_in(source))
    total = sum(tensor.nbytes for tensor in named.values())
    entries: dict[str, object] = {}
    at = 0
    for copy in range(-(-size_bytes // total)):
        for name, tensor in named.items():
            kind = {torch.float32: "F32", torch.bfloat16: "BF16"}.get(tensor.dtype, "U8")
            entries[f"{copy}.{name}"] = {
                "dtype": kind,
                "shape": [tensor.nbytes // (1 if kind == "U8" else tensor.element_size())],
                "data_offsets": [at, at + tensor.nbytes],
            }
            at += tensor.nbytes
    header = json.dumps(entries).encode()
    header += b" " * (-len(header) % 8)
    with target.open("xb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        for _ in range(-(-size_bytes // total)):
            for tensor in named.values():
                file.write(tensor.contiguous().view(-1).view(torch.uint8).numpy().data)


def tensors_in(source: Path) -> Iterator[tuple[str, Tensor]]:
    """Every tensor of a checkpoint, by the way to it."""
    if source.suffix == ".safetensors":
        from safetensors.torch import load_file

        return iter(load_file(source).items())
    return _tensors(torch.load(source, weights_only=True))


def _tensors(tree: Any, prefix: str = "") -> Iterator[tuple[str, Tensor]]:
    if isinstance(tree, Tensor):
        yield prefix, tree
    elif isinstance(tree, dict | list):
        for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from _tensors(value, f"{prefix}.{key}")
