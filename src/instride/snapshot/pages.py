"""Ways to ask for the pages of shared memory before they are written to."""

from __future__ import annotations

import ctypes
import errno
from collections.abc import Callable
from typing import NamedTuple

import torch

from instride.system.cgroups import must_be_there
from instride.system.striped import STRIPE_BYTES

POPULATE_WRITE = 23
STEP_BYTES = 2 << 20
"""What is populated at once: meanwhile nobody in the process can map memory."""
CHECK_BYTES = STRIPE_BYTES
"""What is touched at once, in one file; and how often whoever asks looks whether there is memory
left."""
KEEP_SIZE = 1

_libc = ctypes.CDLL(None, use_errno=True)
# Not `posix_fallocate`, which writes to the file where the system cannot allocate.
_libc.fallocate.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_long, ctypes.c_long)
_libc.memcmp.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)


class Pages(NamedTuple):
    """A part of shared memory."""

    fd: int
    start: int
    """In the file."""
    memory: torch.Tensor


class Asking(NamedTuple):
    most_bytes: int
    """At once."""
    ask: Callable[[Pages], bool]
    """Whether they are there then."""


def populate(pages: Pages) -> bool:
    part = pages.memory
    address, num_bytes = ctypes.c_void_p(part.data_ptr()), ctypes.c_size_t(part.numel())
    is_there: bool = _libc.madvise(address, num_bytes, POPULATE_WRITE) == 0
    return is_there or ctypes.get_errno() == errno.EINVAL  # Linux before 5.14 cannot tell


def touch(pages: Pages) -> bool:
    """Read all of it: slower, but for the thread that trains. It takes the interpreter a few times
    in a second instead of hundreds of times, and nobody who maps memory waits for it."""
    part = pages.memory
    if not _allocate(pages):
        return False
    # In this thread alone, which torch does not promise of anything that it computes.
    _libc.memcmp(part.data_ptr(), part.data_ptr(), part.numel())
    return True


def _allocate(pages: Pages) -> bool:
    """False where the system says that there is no memory for them; the limit of a control group
    says nothing, and must not be reached. Pages that are allocated by being read instead are slow
    once more, when they are written to for the first time: by a microsecond each on some machines.
    """
    if _libc.fallocate(pages.fd, KEEP_SIZE, pages.start, pages.memory.numel()) == 0:
        return True
    return ctypes.get_errno() in (errno.EINTR, errno.EOPNOTSUPP, errno.ENOSYS)


POPULATING = Asking(STEP_BYTES, populate)


def gently() -> Asking:
    """The way beside a thread that must not be held up."""
    if must_be_there():  # a page that is not would be the end of us: the other way returns
        return POPULATING
    return Asking(CHECK_BYTES, touch)
