"""Memory that a process has freed, and the C library keeps for the next time."""

from __future__ import annotations

import ctypes


def give_back_memory() -> None:
    """Let the system have it; a process that rests should be small. Only glibc knows how."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
