"""The least that two checkpoints ten steps apart could be made of, byte by byte."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from instride.bench.trained import tensors_in

Bytes = npt.NDArray[np.uint8]


def floor_of_delta(base: Path, later: Path) -> float:
    """What is left of a checkpoint if what its base has costs nothing, and every plane of every
    other tensor, as it is or XORed with the base, costs its entropy and no table.

    No code that looks at one byte after the other gets below that.
    """
    before = dict(tensors_in(base))
    num_bytes = least_bytes = 0.0
    for name, tensor in tensors_in(later):
        own = tensor.contiguous().view(-1).numpy()
        num_bytes += own.nbytes
        old = before[name].contiguous().view(-1).numpy()
        if own.tobytes() == old.tobytes():
            continue
        kind = np.dtype(f"<u{own.itemsize}")
        now, then = own.view(kind), old.view(kind)
        least_bytes += min(_least_bytes(now), _least_bytes(now ^ then))
    return least_bytes / num_bytes


def _least_bytes(numbers: npt.NDArray[np.unsignedinteger]) -> float:
    """Of the planes, the sign rotated to the low end."""
    width = numbers.itemsize
    rotated = (numbers << 1) | (numbers >> (8 * width - 1))
    planes = np.ascontiguousarray(rotated).view(np.uint8).reshape(-1, width)
    return sum(_entropy_bytes(planes[:, number]) for number in range(width))


def _entropy_bytes(plane: Bytes) -> float:
    counts = np.bincount(plane, minlength=256)
    shares = counts[counts > 0] / len(plane)
    return float(-(shares * np.log2(shares)).sum() * len(plane) / 8)
