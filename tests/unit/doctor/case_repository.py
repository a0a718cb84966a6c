"""A training repository in which six things are wrong, the rest being as it should be.

A daemon compresses checkpoints beside training, whole files at a time; a key of the configuration
is not the one that the code reads; two parts delete old checkpoints; a save goes straight to its
final name; and every save is followed by three collections and an emptied cache.
"""

from __future__ import annotations

from pathlib import Path

MAKEFILE = """\
.PHONY: train

train:
\tcheckpoint-daemon --config config.toml &
\tpython train.py --config config.yaml
"""

DAEMON = """\
[watcher]
path = "checkpoints"
pattern = "step_*.pt"

[cleanup]
keep_latest = 3

[compression]
enabled = true
level = 9
"""

CONFIG = """\
out_dir: checkpoints
steps: 20000
save_every: 1000
learning_rate: 0.0003
use_torch_compile: false
"""

TRAIN = '''\
"""Trains a small model."""

import argparse
import copy
import gc
import threading
from dataclasses import dataclass
from pathlib import Path

import torch
import yaml


@dataclass
class Config:
    out_dir: str
    steps: int
    save_every: int
    learning_rate: float
    compile: bool = True


def read_config(path):
    values = yaml.safe_load(Path(path).read_text())
    known = {name: values[name] for name in Config.__dataclass_fields__ if name in values}
    return Config(**known)


def step_of(path):
    return int(path.stem.removeprefix("step_"))


def delete_old_checkpoints(folder, keep=5):
    checkpoints = sorted(folder.glob("step_*.pt"), key=step_of)
    for old in checkpoints[:-keep]:
        old.unlink()


def write(state, path):
    torch.save(state, path)
    delete_old_checkpoints(path.parent)


def save_checkpoint(model, optimizer, step, folder):
    state = copy.deepcopy(
        {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
    )
    writer = threading.Thread(target=write, args=(state, folder / f"step_{step}.pt"))
    writer.start()
    gc.collect()
    gc.collect()
    gc.collect()
    torch.cuda.empty_cache()
    return writer


def main(config):
    model = torch.nn.Linear(512, 512).cuda()
    if config.compile:
        model = torch.compile(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=config.learning_rate)
    folder = Path(config.out_dir)
    folder.mkdir(parents=True, exist_ok=True)
    writer = None
    for step in range(1, config.steps + 1):
        loss = model(torch.randn(64, 512, device="cuda")).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if step % 100 == 0:
            print(f"step {step}: loss {loss.item():.4f}")
        if step % config.save_every == 0:
            if writer is not None:
                writer.join()
            writer = save_checkpoint(model, optimizer, step, folder)
    if writer is not None:
        writer.join()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default="config.yaml")
    main(read_config(parser.parse_args().config))
'''

FILES = {
    "Makefile": MAKEFILE,
    "config.toml": DAEMON,
    "config.yaml": CONFIG,
    "train.py": TRAIN,
}


def write_case(root: Path) -> Path:
    for name, text in FILES.items():
        (root / name).write_text(text, encoding="utf-8")
    return root


def line_of(name: str, text: str) -> int:
    """The number of the first line of a file that has this text."""
    numbers = [number for number, line in enumerate(FILES[name].splitlines(), 1) if text in line]
    return numbers[0]
