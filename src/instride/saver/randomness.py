"""The states of the random number generators, in values that every reader knows."""

from __future__ import annotations

import random
import sys
from typing import Any

import torch


def random_states() -> dict[str, Any]:
    """Python's, NumPy's (where it is used) and torch's generators, as they are now."""
    states: dict[str, Any] = {"python": random.getstate(), "torch": torch.get_rng_state()}
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        state = numpy.random.get_state(legacy=False)
        inner = state["state"]
        states["numpy"] = {
            "bit_generator": str(state["bit_generator"]),
            "key": torch.from_numpy(inner["key"].astype("int64")),
            "pos": int(inner["pos"]),
            "has_gauss": int(state["has_gauss"]),
            "gauss": float(state["gauss"]),
        }
    return states


def restore_random_states(states: dict[str, Any]) -> None:
    """Let the generators go on where they were."""
    version, internal, gauss = states["python"]
    random.setstate((version, tuple(internal), gauss))
    torch.set_rng_state(states["torch"].to(torch.uint8).cpu())
    saved = states.get("numpy")
    numpy = sys.modules.get("numpy")
    if saved is not None and numpy is not None:
        key = saved["key"].numpy().astype("uint32")
        numpy.random.set_state(
            {
                "bit_generator": saved["bit_generator"],
                "state": {"key": key, "pos": saved["pos"]},
                "has_gauss": saved["has_gauss"],
                "gauss": saved["gauss"],
            }
        )
