"""Shared memory that lies in several files, a stripe in each in turn.

Whoever asks for pages of a file waits for all others who do: with one file, twelve threads get no
more of them in a second than six. It is mapped without descriptors of its own, so that a forked
child can let go of it: Python's own maps keep a copy, which no child gets at.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import weakref
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from instride.system.descriptors import above_standard

NUM_FILES = 4
STRIPE_BYTES = 64 << 20
"""A process may map some 65,000 of them, which is four terabytes."""
FEW_STRIPES = 8
"""So many are mapped without a look at how many maps are left: as any library that is loaded."""
SPARE_MAPS = 256
"""What is left of them to threads, allocators and libraries."""
MOST_MAPS, MAPS = Path("/proc/sys/vm/max_map_count"), Path("/proc/self/maps")
NO_RESERVE = 0x4000
FIXED = 0x10
NO_ACCESS = 0
FAILED = ctypes.c_void_p(-1).value

_libc = ctypes.CDLL(None)
_libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
# Without handing on the interpreter: each of hundreds of calls would have to wait until it is back.
_at_once = ctypes.PyDLL(None, use_errno=True)
_at_once.mmap.restype = ctypes.c_void_p
_at_once.mmap.argtypes = (
    ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long,
)  # fmt: skip
_NOTHING = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | NO_RESERVE

Memory = ctypes.Array[ctypes.c_uint8]
"""All stripes, one behind the other."""


class Place(NamedTuple):
    """In which of the files, and where in it."""

    file: int
    offset: int


def place_of(start: int, num_files: int) -> Place:
    """Of a byte of the memory, and of those behind it in the same stripe."""
    number, within = divmod(start, STRIPE_BYTES)
    return Place(number % num_files, number // num_files * STRIPE_BYTES + within)


def make_files(name: str, num_files: int) -> tuple[int, ...]:
    """Descriptors of all of them, or of none."""
    fds: list[int] = []
    try:
        with above_standard():
            while len(fds) < num_files:
                fds.append(os.memfd_create(name, os.MFD_CLOEXEC))
    except BaseException:
        close_files(fds)
        raise
    return tuple(fds)


def close_files(fds: Sequence[int]) -> None:
    for fd in fds:
        with suppress(OSError):  # a process that was forked in between may have some of them only
            os.close(fd)


def resize(fds: Sequence[int], num_bytes: int) -> None:
    """Give all files together so many bytes. Raises OSError where they are closed, as in a child
    that let go of them."""
    if not fds:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    sizes = [0] * len(fds)
    for start, length in _stripes(num_bytes):
        file, offset = place_of(start, len(fds))
        sizes[file] = offset + length
    for fd, size in zip(fds, sizes, strict=True):
        os.ftruncate(fd, size)


def reserve(num_bytes: int) -> Memory:
    """Addresses with nothing there, taken as long as somebody has this object, or a view of it."""
    address = _map(None, num_bytes, NO_ACCESS, _NOTHING, -1, 0)
    memory = (ctypes.c_uint8 * num_bytes).from_address(address)
    weakref.finalize(memory, _libc.munmap, address, num_bytes).atexit = False
    return memory


def fill(memory: Memory, fds: Sequence[int]) -> Memory:
    """The files, as one memory at addresses that were reserved."""
    _refuse_too_many(len(memory) // STRIPE_BYTES)
    address = ctypes.addressof(memory)
    access, flags = mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED | FIXED
    for start, length in _stripes(len(memory)):
        file, offset = place_of(start, len(fds))
        _map(address + start, length, access, flags, fds[file], offset)
    return memory


def let_go_in_child(memory: Memory) -> None:
    """The addresses stay taken, by nothing: whatever else came to lie there would be unmapped with
    the object."""
    with suppress(OSError):
        _map(ctypes.addressof(memory), len(memory), NO_ACCESS, _NOTHING | FIXED, -1, 0)


def _refuse_too_many(num_stripes: int) -> None:
    """Where a process has no maps left, not even a thread can be started: its last ones are not
    taken."""
    if num_stripes < FEW_STRIPES:
        return
    try:
        most = int(MOST_MAPS.read_text(encoding="ascii"))
        num_maps = MAPS.read_bytes().count(b"\n")
    except OSError:
        return
    if num_maps + num_stripes + SPARE_MAPS > most:
        text = f"{num_maps} of {most} memory maps are in use, and {num_stripes} are needed"
        raise OSError(errno.ENOMEM, f"{text} (`sysctl vm.max_map_count` sets how many there are)")


def _stripes(num_bytes: int) -> Iterator[tuple[int, int]]:
    """Where each begins, and how long it is."""
    for start in range(0, num_bytes, STRIPE_BYTES):
        yield start, min(STRIPE_BYTES, num_bytes - start)


def _map(address: int | None, num_bytes: int, access: int, flags: int, fd: int, offset: int) -> int:
    mapped: int = _at_once.mmap(address, num_bytes, access, flags, fd, offset)
    if mapped == FAILED:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return mapped
