"""Makes a training repository of any number of files, the same every time.

Three quarters are Python of the usual kind (classes, loops, arguments, docstrings), some of it a
trainer that saves; the rest are configurations and scripts. Nothing in it is ever run.
"""

from __future__ import annotations

import random
from pathlib import Path

FILES_A_FOLDER = 25
FUNCTIONS_A_FILE = 8
KEYS_A_CONFIG = 40
WORDS = (
    "alpha", "batch", "block", "cache", "chunk", "depth", "embed", "epoch", "field", "frame",
    "gate", "head", "index", "joint", "kernel", "layer", "mask", "norm", "order", "patch",
    "query", "rank", "scale", "shard", "slot", "stage", "table", "token", "unit", "value",
)  # fmt: skip

FUNCTION = '''

def {name}({first}, {second}=None, *, {third}=0.1):
    """Combine {first} and {second} over one {third}."""
    total = {{}}
    for number, item in enumerate({first}):
        if {second} is not None and item in {second}:
            total[item] = total.get(item, 0.0) + {third} * number
        elif isinstance(item, (list, tuple)) and len(item) > 2:
            total[str(item[0])] = sum(float(part) for part in item[1:]) / len(item)
        else:
            total.setdefault("{first}_{third}", []).append((number, item))
    return [(key, value) for key, value in sorted(total.items(), key=str) if key != "{second}"]
'''

TRAINER = """

class Trainer:
    def __init__(self, model, optimizer, config):
        self.model, self.optimizer, self.config = model, optimizer, config

    def train(self, batches):
        for step, (inputs, targets) in enumerate(batches):
            loss = torch.nn.functional.cross_entropy(self.model(inputs), targets)
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad(set_to_none=True)
            if step % self.config.log_every == 0:
                print(f"step {step}: loss {loss.item():.4f}")
            if step % self.config.save_every == 0:
                self.save(step)

    def save(self, step):
        path = Path(self.config.out_dir) / f"step_{step:07}.pt"
        unfinished = path.with_suffix(".tmp")
        torch.save({"model": self.model.state_dict(), "step": step}, unfinished)
        unfinished.replace(path)
"""

SCRIPT = """#!/bin/bash
set -euo pipefail
export OMP_NUM_THREADS=8
for seed in 1 2 3; do
    torchrun --nproc_per_node=8 train.py --config configs/{name}.yaml --seed "$seed" \\
        --out "out/{name}-$seed" 2>&1 | tee "out/{name}-$seed.log"
done
"""


def write_repository(root: Path, num_files: int) -> int:
    """Write so many files below a directory; how many bytes they have."""
    dice = random.Random(11)
    size = 0
    for number in range(num_files):
        folder = root / f"part_{number // FILES_A_FOLDER:03}"
        folder.mkdir(parents=True, exist_ok=True)
        suffix, text = _file(number, dice)
        (folder / f"{dice.choice(WORDS)}_{number}{suffix}").write_text(text, encoding="utf-8")
        size += len(text)
    return size


def _file(number: int, dice: random.Random) -> tuple[str, str]:
    match number % 8:
        case 6:
            return ".yaml", _config(dice)
        case 7 if number % 16 == 7:
            return ".json", _json(dice)
        case 7:
            return ".sh", SCRIPT.format(name=dice.choice(WORDS))
        case _:
            return ".py", _python(dice, has_trainer=number % 24 == 0)


def _python(dice: random.Random, has_trainer: bool) -> str:
    parts = ["from pathlib import Path\n\nimport torch\n"]
    for number in range(FUNCTIONS_A_FILE):
        first, second, third = dice.sample(WORDS, 3)
        name = f"{dice.choice(WORDS)}_{number}"
        parts.append(FUNCTION.format(name=name, first=first, second=second, third=third))
    if has_trainer:
        parts.append(TRAINER)
    return "".join(parts)


def _config(dice: random.Random) -> str:
    lines = []
    for number in range(KEYS_A_CONFIG):
        key = f"{dice.choice(WORDS)}_{dice.choice(WORDS)}_{number}"
        lines.append(f"{'  ' if number % 10 else ''}{key}:{f' {number}' if number % 10 else ''}")
    return "\n".join(lines) + "\n"


def _json(dice: random.Random) -> str:
    pairs = (f'  "{dice.choice(WORDS)}_{number}": {number}' for number in range(KEYS_A_CONFIG))
    return "{\n" + ",\n".join(pairs) + "\n}\n"
