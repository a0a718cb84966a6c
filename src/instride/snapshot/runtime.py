"""What the CUDA runtime that torch has loaded can do, and torch does not pass on."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

import torch

RELAXED = 2
"""`cudaStreamCaptureModeRelaxed`: what this thread calls does not end captures of others."""


def let_others_capture() -> None:
    """For the calling thread: a capture of a graph by another thread is none of its business.

    Without this, waiting for an event here makes a capture fail that is under way over there.
    """
    runtime = _runtime()
    if runtime is not None:
        runtime.cudaThreadExchangeStreamCaptureMode(ctypes.byref(ctypes.c_int(RELAXED)))


def forget_error() -> None:
    """For the calling thread: an error that was seen is not one of what it launches next, which is
    what torch would take it for."""
    runtime = _runtime()
    if runtime is not None:
        runtime.cudaGetLastError()


def gpus_in_use() -> set[torch.device]:
    """All GPUs that the process has used so far. The others are best let be: whoever waits for one,
    or asks it anything, makes half a gigabyte of context there."""
    if not torch.cuda.is_initialized():
        return set()
    all_gpus = (torch.device("cuda", index) for index in range(torch.cuda.device_count()))
    return {gpu for gpu in all_gpus if torch._C._cuda_hasPrimaryContext(gpu.index)}


def await_devices() -> None:
    """Until all of them have done what they were given."""
    for gpu in gpus_in_use():
        torch.cuda.synchronize(gpu)


@cache
def _runtime() -> Any:
    for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        path = line.partition("/")[2]
        if "libcudart.so" in path:
            return ctypes.CDLL(f"/{path}")
    return None
