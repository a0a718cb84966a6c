"""`torch.load`, from a pack as from the file that it was made from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from instride.pack.container import is_pack


def load_file(path: Path, map_location: Any = None, *, weights_only: bool = True) -> Any:
    """The tree of a checkpoint. Blocks of a pack are decoded as torch asks for them, and those
    behind them in advance, so that memory holds a few of them besides the tree."""
    if not is_pack(path):
        return torch.load(path, map_location=map_location, weights_only=weights_only)
    from instride.pack.reading import PackFile  # not before it is needed: it loads numpy

    with PackFile(path) as file:
        return torch.load(file, map_location=map_location, weights_only=weights_only)
