"""The states of the random number generators, in values that every reader knows.

As bytes, not as tensors: those would be new ones at every save, which a plan has to follow.
"""

from __future__ import annotations

import random
import sys
from typing import Any

import torch

from instride.snapshot.views import view_of

DEVICES = {"cuda": "GPUs", "xpu": "XPUs"}
"""Where torch has a generator for each device, and what people call these."""


def random_states() -> dict[str, Any]:
    """Python's, NumPy's (where it is used) and torch's generators, as they are now; those of
    devices where these are used."""
    states: dict[str, Any] = {
        "python": random.getstate(),
        "torch": _bytes_of(torch.get_rng_state()),
    }
    for kind in DEVICES:
        backend = getattr(torch, kind)
        if backend.is_initialized():  # to ask whether there are any would wake some of them up
            states[kind] = [_bytes_of(state) for state in backend.get_rng_state_all()]
    if torch.backends.mps.is_available():  # has one device, and does not say whether it is used
        states["mps"] = _bytes_of(torch.mps.get_rng_state())
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        states["numpy"] = _plain(numpy.random.get_state(legacy=False))
    return states


def restore_random_states(states: dict[str, Any]) -> list[str]:
    """Let the generators go on where they were; what of them cannot."""
    left_out: list[str] = []
    if "python" in states:
        version, internal, gauss = states["python"]
        random.setstate((version, tuple(internal), gauss))
    if "torch" in states:
        torch.set_rng_state(_tensor_of(states["torch"]))
    for kind in DEVICES:
        left_out += _restore_devices(kind, states[kind]) if kind in states else []
    if "mps" in states:
        left_out += _restore_mps(states["mps"])
    numpy = sys.modules.get("numpy")
    if "numpy" in states and numpy is not None:
        left_out += _restore_numpy(numpy, states["numpy"])
    return left_out


def _restore_devices(kind: str, saved: list[bytes]) -> list[str]:
    backend = getattr(torch, kind)
    num_here = backend.device_count()
    if num_here != len(saved):
        return [
            f"the generators of {len(saved)} {DEVICES[kind]} were saved, and there are "
            f"{num_here}: they do not go on where they were"
        ]
    backend.set_rng_state_all([_tensor_of(state) for state in saved])
    return []


def _restore_mps(saved: bytes) -> list[str]:
    if not torch.backends.mps.is_available():
        return [
            "the generator of MPS was saved, and there is no MPS here: it does not go on where it "
            "was"
        ]
    torch.mps.set_rng_state(_tensor_of(saved))
    return []


def _restore_numpy(numpy: Any, saved: dict[str, Any]) -> list[str]:
    now = numpy.random.get_state(legacy=False)["bit_generator"]
    if now != saved["bit_generator"]:
        return [
            f"numpy.random draws from {now} and drew from {saved['bit_generator']} when the "
            "checkpoint was saved: it does not go on where it was"
        ]
    numpy.random.set_state(_as_it_was(numpy, saved))
    return []


def _plain(value: Any) -> Any:
    """A state of NumPy, of whichever generator: arrays as bytes, numbers as Python's."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if not hasattr(value, "dtype"):
        return value
    return {"dtype": value.dtype.str, "data": value.tobytes()} if value.ndim else value.item()


def _as_it_was(numpy: Any, value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if value.keys() == {"dtype", "data"}:
        return numpy.frombuffer(value["data"], value["dtype"])
    return {key: _as_it_was(numpy, each) for key, each in value.items()}


def _bytes_of(state: torch.Tensor) -> bytes:
    return bytes(view_of(state.cpu()))


def _tensor_of(state: bytes) -> torch.Tensor:
    return torch.frombuffer(bytearray(state), dtype=torch.uint8)
