"""Quotas of the user and of the user's groups, by the system call that needs no privileges.

Limits of a project or a directory show in the free space of the filesystem itself. File servers
keep theirs to themselves.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator

import msgspec

from instride.system.mounts import Mount

_GET_QUOTA = 0x800007
_USER, _GROUP = 0, 1
_HAS_BLOCK_LIMITS = 1
_HAS_SPACE = 2
_BLOCK_BYTES = 1024
"""The unit of limits, whatever the blocks of the filesystem are."""


class Quota(msgspec.Struct, frozen=True):
    whose: str
    """`user 1000`, `group 100`."""
    used_bytes: int
    limit_bytes: int

    @property
    def left_bytes(self) -> int:
        return max(0, self.limit_bytes - self.used_bytes)


class _Block(ctypes.Structure):
    """`struct if_dqblk` of Linux."""

    _fields_ = (
        ("hard_limit", ctypes.c_uint64),
        ("soft_limit", ctypes.c_uint64),
        ("space", ctypes.c_uint64),
        ("inode_hard_limit", ctypes.c_uint64),
        ("inode_soft_limit", ctypes.c_uint64),
        ("inodes", ctypes.c_uint64),
        ("block_time", ctypes.c_uint64),
        ("inode_time", ctypes.c_uint64),
        ("valid", ctypes.c_uint32),
    )


def tightest_quota(mount: Mount) -> Quota | None:
    """The one with the least left; None if there is none, or the system does not say."""
    if not sys.platform.startswith("linux") or not mount.source.startswith("/"):
        return None
    return min(_quotas(mount.source), key=lambda quota: quota.left_bytes, default=None)


def _quotas(source: str) -> Iterator[Quota]:
    asked = [("user", _USER, os.getuid())]
    asked += [("group", _GROUP, each) for each in {os.getgid(), *os.getgroups()}]
    for name, kind, id in asked:
        block = _ask(source, kind, id)
        if block is None or not block.valid & _HAS_BLOCK_LIMITS or not block.valid & _HAS_SPACE:
            continue
        limits = [limit for limit in (block.hard_limit, block.soft_limit) if limit]
        if limits:
            yield Quota(f"{name} {id}", block.space, min(limits) * _BLOCK_BYTES)


def _ask(source: str, kind: int, id: int) -> _Block | None:
    block = _Block()
    command = (_GET_QUOTA << 8) | kind
    try:
        quotactl = ctypes.CDLL(None, use_errno=True).quotactl
    except (OSError, AttributeError):  # a C library without it
        return None
    # Without it, the command does not fit into a signed int and ctypes cuts it as it likes.
    quotactl.argtypes = (ctypes.c_uint32, ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p)
    failed = quotactl(command, os.fsencode(source), id, ctypes.byref(block))
    return None if failed else block
