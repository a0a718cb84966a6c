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


def await_devices() -> None:
    """Until all GPUs that the process uses have done what they were given. The others are let be:
    whoever waits for one makes half a gigabyte of context there."""
    for index in range(torch.cuda.device_count()):
        if torch._C._cuda_hasPrimaryContext(index):
            torch.cuda.synchronize(index)


@cache
def _runtime() -> Any:
    for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        path = line.partition("/")[2]
        if "libcudart.so" in path:
            return ctypes.CDLL(f"/{path}")
    return None
