"""Letting training capture CUDA graphs while another thread of the process uses the device."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path
from typing import Any

RELAXED = 2
"""`cudaStreamCaptureModeRelaxed`: what this thread calls does not end captures of others."""


def let_others_capture() -> None:
    """For the calling thread: a capture by another thread is none of its business.

    Without this, waiting for an event here makes a capture fail that is under way over there.
    """
    exchange = _exchange()
    if exchange is not None:
        exchange(ctypes.byref(ctypes.c_int(RELAXED)))


@cache
def _exchange() -> Any:
    """`cudaThreadExchangeStreamCaptureMode` of the runtime that torch has loaded."""
    for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        path = line.partition("/")[2]
        if "libcudart.so" in path:
            runtime = ctypes.CDLL(f"/{path}")
            return getattr(runtime, "cudaThreadExchangeStreamCaptureMode", None)
    return None
