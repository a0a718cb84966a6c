"""`torch.load`, from what was made smaller as from the file that it was made from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from instride.framed.reading import is_framed, open_framed
from instride.pack.container import is_pack


def load_file(path: Path, map_location: Any = None, *, weights_only: bool = True) -> Any:
    """The tree of a checkpoint. Blocks of a pack, and frames of a `.zst` or `.lz4`, are decoded as
    torch asks for them, and those behind them in advance, so that memory holds a few of them
    besides the tree."""
    if not is_smaller_form(path):
        return torch.load(path, map_location=map_location, weights_only=weights_only)
    with _opened(path) as file:
        try:
            return torch.load(file, map_location=map_location, weights_only=weights_only)
        except Exception:  # torch's reader in C++ makes something else of what the file raised
            damage = getattr(file, "damage", None)
            if damage is not None:
                raise damage from None
            raise


def is_smaller_form(path: Path) -> bool:
    """Whether a file was packed or compressed, by how it starts."""
    return is_pack(path) or is_framed(path)


def _opened(path: Path) -> Any:
    """The original, to be read from any place."""
    if is_framed(path):
        return open_framed(path)
    from instride.pack.reading import PackFile  # not before it is needed: it loads numpy

    return PackFile(path)
