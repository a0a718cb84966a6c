"""A part that keeps whatever it is given, and a checkpoint of parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

import instride


class Holder:
    """A part that keeps what it is given."""

    def __init__(self, state: Any) -> None:
        self.state = state

    def state_dict(self) -> Any:
        return {"state": self.state}

    def load_state_dict(self, given: Any) -> None:
        self.state = given["state"]


def saved(tmp_path: Path, **parts: Any) -> Path:
    with instride.Saver(tmp_path, **parts) as saver:
        return saver.save(3, extra={"also": [1.5, torch.ones(2)]}).wait(60).path
