"""Processes that were forked, and have none of the threads that their parent computed with."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import torch

FORKED_WITHOUT_EXEC = 0x40
FLAGS_FIELD = 6
"""Behind the name in brackets of `/proc/self/stat`."""


@contextmanager
def without_threads_of_a_parent() -> Iterator[None]:
    """In a forked process, compute in this thread alone.

    The library behind torch's threads waits for those of the parent, for ever. `torch.save` needs
    none, and neither must a copy of ours.
    """
    if not _is_forked():
        yield
        return
    num_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(num_threads)


@cache
def _is_forked() -> bool:
    """Whether this is a copy of another process, as the system notes it until a program is
    started."""
    try:
        stat = Path("/proc/self/stat").read_bytes()
    except OSError:
        return True
    fields = stat[stat.rindex(b")") + 2 :].split()
    return bool(int(fields[FLAGS_FIELD]) & FORKED_WITHOUT_EXEC)


if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(after_in_child=_is_forked.cache_clear)
