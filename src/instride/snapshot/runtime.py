"""What the CUDA runtime that torch has loaded can do, and torch does not pass on."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import torch

RELAXED = 2
"""`cudaStreamCaptureModeRelaxed`: what this thread calls does not end captures of others."""


@contextmanager
def letting_others_capture() -> Iterator[None]:
    """In the calling thread, whose device is the one that it works for: a capture of a graph by
    another thread is none of its business.

    Without this, waiting for an event here makes a capture fail that is under way over there. It
    may be the thread that trains, whose own captures must be as strict as before behind it.
    """
    runtime = _runtime() if torch.cuda.is_initialized() else None
    mode = ctypes.c_int(RELAXED)
    if runtime is not None:
        runtime.cudaThreadExchangeStreamCaptureMode(ctypes.byref(mode))
    try:
        yield
    finally:
        if runtime is not None:
            runtime.cudaThreadExchangeStreamCaptureMode(ctypes.byref(mode))


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
    """That of torch, where another library has brought one of another version along."""
    maps = Path("/proc/self/maps").read_text(encoding="utf-8")
    paths = [line.partition("/")[2] for line in maps.splitlines() if "libcudart" in line]
    version = str(torch.version.cuda).partition(".")[0]
    paths.sort(key=lambda path: f".so.{version}" not in path)
    return ctypes.CDLL(f"/{paths[0]}") if paths else None
