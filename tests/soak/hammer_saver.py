"""Overwrites every tensor the moment `save()` returns, thousands of times: no file may show it.

python -m tests.soak.hammer_saver --saves 5000
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

import torch

import instride

NUM_TENSORS = 24
MOST_VALUES = 30_000
SMALL_ARENA_BYTES = 1
"""What is larger than the smallest arena streams through it."""
LARGE_VALUES = 5 << 20


class Tensors:
    """A part in which every value, and every name, is that of one save."""

    def __init__(self, sizes: list[int]) -> None:
        self.values = {str(n): torch.zeros(size) for n, size in enumerate(sizes)}
        self.names: list[str] = []

    def become(self, number: float) -> None:
        for tensor in self.values.values():
            tensor.fill_(number)
        self.names[:] = [str(number)]

    def state_dict(self) -> dict[str, object]:
        return {"values": self.values, "names": self.names}

    def load_state_dict(self, state: dict[str, object]) -> None:
        raise AssertionError("nothing is restored here")


def hammer(directory: Path, num_saves: int, sizes: list[int], memory_bytes: int | None) -> int:
    """The number of files that show a moment other than that of their call."""
    tensors = Tensors(sizes)
    num_torn = 0
    keep = instride.Keep(last=2)
    with instride.Saver(directory, keep=keep, memory_bytes=memory_bytes, tensors=tensors) as saver:
        for save in range(num_saves):
            tensors.become(float(save))
            pending = saver.save(save)
            tensors.become(-1.0)
            state = torch.load(pending.wait(600).path, weights_only=True)["tensors"]
            is_whole = all(bool((value == save).all()) for value in state["values"].values())
            if not is_whole or state["names"] != [str(float(save))]:
                num_torn += 1
                print(f"save {save} of {len(sizes)} tensors is torn", file=sys.stderr)
    return num_torn


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--saves", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    dice = random.Random(given.seed)
    sizes = [dice.randrange(1, MOST_VALUES) for _ in range(NUM_TENSORS)]
    num_streamed = max(1, given.saves // 50)
    with tempfile.TemporaryDirectory() as folder:
        num_torn = hammer(Path(folder, "whole"), given.saves, sizes, None)
        num_torn += hammer(
            Path(folder, "streamed"), num_streamed, [*sizes, LARGE_VALUES], SMALL_ARENA_BYTES
        )
    print(f"{given.saves} saves and {num_streamed} that streamed: {num_torn} torn")
    return 1 if num_torn else 0


if __name__ == "__main__":
    sys.exit(main())
