"""Shared memory, mapped without a descriptor of its own, so that a forked child can let go of it.

Python's own maps keep a copy of the descriptor, which no child gets at.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import weakref

NO_RESERVE = 0x4000
FIXED = 0x10
NO_ACCESS = 0
FAILED = ctypes.c_void_p(-1).value

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = (
    ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long,
)  # fmt: skip
_libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)


def map_shared(fd: int, num_bytes: int) -> ctypes.Array[ctypes.c_uint8]:
    """A file as memory, mapped as long as somebody has this object, or a view of it."""
    flags = mmap.PROT_READ | mmap.PROT_WRITE
    address = _libc.mmap(None, num_bytes, flags, mmap.MAP_SHARED, fd, 0)
    if address == FAILED:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    memory = (ctypes.c_uint8 * num_bytes).from_address(address)
    weakref.finalize(memory, _libc.munmap, address, num_bytes).atexit = False
    return memory


def let_go_in_child(memory: ctypes.Array[ctypes.c_uint8]) -> None:
    """The addresses stay taken, by nothing: whatever else came to lie there would be unmapped with
    the object."""
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | FIXED | NO_RESERVE
    _libc.mmap(ctypes.addressof(memory), len(memory), NO_ACCESS, flags, -1, 0)
