"""Ways to ask for the pages of shared memory before they are written to."""

from __future__ import annotations

import ctypes
import errno
from collections.abc import Callable
from typing import NamedTuple

import torch

from instride.system.cgroups import must_be_there

POPULATE_WRITE = 23
STEP_BYTES = 2 << 20
"""What is populated at once: meanwhile nobody in the process can map memory."""
CHECK_BYTES = 64 << 20
"""What is touched at once; and how often whoever asks looks whether there is memory left."""

_libc = ctypes.CDLL(None, use_errno=True)
_libc.memcmp.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


class Asking(NamedTuple):
    most_bytes: int
    """At once."""
    ask: Callable[[torch.Tensor], bool]
    """Whether they are there then."""


def populate(part: torch.Tensor) -> bool:
    address, num_bytes = ctypes.c_void_p(part.data_ptr()), ctypes.c_size_t(part.numel())
    is_there: bool = _libc.madvise(address, num_bytes, POPULATE_WRITE) == 0
    return is_there or ctypes.get_errno() == errno.EINVAL  # Linux before 5.14 cannot tell


def touch(part: torch.Tensor) -> bool:
    """Read all of it: slower, but for the thread that trains. It takes the interpreter a few times
    in a second instead of hundreds of times, and nobody who maps memory waits for it."""
    # In this thread alone, which torch does not promise of anything that it computes.
    _libc.memcmp(part.data_ptr(), part.data_ptr(), part.numel())
    return True


POPULATING = Asking(STEP_BYTES, populate)


def gently() -> Asking:
    """The way beside a thread that must not be held up."""
    if must_be_there():  # a page that is not would be the end of us: the other way returns
        return POPULATING
    return Asking(CHECK_BYTES, touch)
