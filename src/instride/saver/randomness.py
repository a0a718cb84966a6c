"""The states of the random number generators, in values that every reader knows.

As bytes, not as tensors: those would be new ones at every save, and a plan is kept from one save to
the next only as long as the tensors are the same.
"""

from __future__ import annotations

import random
import sys
from typing import Any

import torch


def random_states() -> dict[str, Any]:
    """Python's, NumPy's (where it is used) and torch's generators, as they are now."""
    states: dict[str, Any] = {
        "python": random.getstate(),
        "torch": _bytes_of(torch.get_rng_state()),
    }
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        states["cuda"] = [_bytes_of(state) for state in torch.cuda.get_rng_state_all()]
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        state = numpy.random.get_state(legacy=False)
        states["numpy"] = {
            "bit_generator": str(state["bit_generator"]),
            "key": state["state"]["key"].tobytes(),
            "pos": int(state["state"]["pos"]),
            "has_gauss": int(state["has_gauss"]),
            "gauss": float(state["gauss"]),
        }
    return states


def restore_random_states(states: dict[str, Any]) -> None:
    """Let the generators go on where they were."""
    version, internal, gauss = states["python"]
    random.setstate((version, tuple(internal), gauss))
    torch.set_rng_state(_tensor_of(states["torch"]))
    if "cuda" in states and torch.cuda.device_count() == len(states["cuda"]):
        torch.cuda.set_rng_state_all([_tensor_of(state) for state in states["cuda"]])
    saved = states.get("numpy")
    numpy = sys.modules.get("numpy")
    if saved is not None and numpy is not None:
        numpy.random.set_state(
            {
                "bit_generator": saved["bit_generator"],
                "state": {"key": numpy.frombuffer(saved["key"], "uint32"), "pos": saved["pos"]},
                "has_gauss": saved["has_gauss"],
                "gauss": saved["gauss"],
            }
        )


def _bytes_of(state: torch.Tensor) -> bytes:
    return bytes(state.cpu().numpy())


def _tensor_of(state: bytes) -> torch.Tensor:
    return torch.frombuffer(bytearray(state), dtype=torch.uint8)
