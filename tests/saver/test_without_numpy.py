"""torch runs without NumPy, which pip does not install along with it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.torch

PROGRAM = """
import sys
sys.modules["numpy"] = None  # as if it was not there
import torch
import instride

class Sparse:
    def state_dict(self):
        return {"x": torch.ones(3).to_sparse()}
    def load_state_dict(self, state):
        assert state["x"].to_dense().sum() == 3

def make(**more):
    model = torch.nn.Linear(8, 8)
    optimizer = torch.optim.AdamW(model.parameters())
    return model, instride.Saver(sys.argv[1], model=model, optimizer=optimizer, **more), optimizer

try:
    torch.ones(1).numpy()
except RuntimeError:
    pass
else:
    sys.exit("NumPy is there")
for more in ({}, {"odd": Sparse()}):
    model, saver, optimizer = make(**more)
    with saver:
        model(torch.randn(2, 8)).sum().backward()
        optimizer.step()
        drawn = saver.save(len(more)).wait(60) and torch.rand(1)
    back, saver, _ = make(**more)
    with saver:
        assert saver.restore() == len(more) + 1
    assert torch.equal(back.weight, model.weight)
    assert torch.equal(torch.rand(1), drawn)
"""


def test_what_is_saved_without_numpy_is_restored_without_it(tmp_path: Path) -> None:
    program = [sys.executable, "-W", "ignore", "-c", PROGRAM, str(tmp_path / "store")]
    done = subprocess.run(program, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
