"""The bytes of tensors as Python sees bytes, without NumPy: torch runs without it, and so do we."""

from __future__ import annotations

import ctypes

import torch


def view_of(tensor: torch.Tensor) -> memoryview:
    """The bytes of a contiguous tensor on the host; they live as long as the view does."""
    assert tensor.device.type == "cpu"
    assert tensor.is_contiguous()
    num_bytes = tensor.numel() * tensor.element_size()
    array = (ctypes.c_ubyte * num_bytes).from_address(tensor.data_ptr())
    array.keeps = tensor  # the view keeps the array, and that keeps the memory
    return memoryview(array).cast("B")
