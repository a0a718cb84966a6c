"""Sharing the interpreter with the thread that trains."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SWITCH_S = 0.0005


@contextmanager
def giving_way() -> Iterator[None]:
    """Let other threads of the interpreter run after half a millisecond of work, not after five.

    A thread that launches kernels lets go of the interpreter with each of them, and would wait that
    long to get it back, hundreds of times in a step.
    """
    global _num_giving_way, _interval_before_s
    with _giving_way:
        if _num_giving_way == 0:
            _interval_before_s = sys.getswitchinterval()
            sys.setswitchinterval(min(_interval_before_s, SWITCH_S))
        _num_giving_way += 1
    try:
        yield
    finally:
        with _giving_way:
            _num_giving_way -= 1
            if _num_giving_way == 0:
                sys.setswitchinterval(_interval_before_s)


_giving_way = threading.Lock()
_num_giving_way = 0
"""Threads of several savers may be at it at the same time."""
_interval_before_s = 0.0


def _forget_in_child() -> None:
    """The threads that gave way are not in a forked child, and whoever had the lock neither."""
    global _giving_way, _num_giving_way
    _giving_way = threading.Lock()
    if _num_giving_way:
        _num_giving_way = 0
        sys.setswitchinterval(_interval_before_s)


if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(after_in_child=_forget_in_child)
