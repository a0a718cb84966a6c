"""Yielding: threads that only run, or write, when nobody else wants to.

That holds among the processes of one session. Sessions are groups that the scheduler shares the
machine between first, whatever the priorities inside.
"""

from __future__ import annotations

import ctypes
import os
import threading
from contextlib import suppress

from instride.system.cores import leave_core_of_parent

MODEST = 5
"""The nice value of a third."""
IOPRIO_SET = {"x86_64": 251, "aarch64": 30}
IOPRIO_WHO_THREAD = 1
IOPRIO_IDLE = 3 << 13


def make_thread_modest(*, preempts: bool = True) -> None:
    """Let the calling thread have a third of what others get: slowed down, but not starved.

    One that does not preempt leaves a core to who is running there when it wakes up: right where
    other cores idle. Where none does, others would wait longer for what it holds.
    """
    leave_core_of_parent()
    me = threading.get_native_id()
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, me, max(MODEST, os.getpriority(os.PRIO_PROCESS, me)))
    if not preempts and hasattr(os, "SCHED_BATCH"):
        with suppress(OSError):
            if os.sched_getscheduler(0) == os.SCHED_OTHER:
                os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))


def make_thread_idle() -> None:
    """Let the calling thread run and write only when nobody else does. It cannot go back."""
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    call = IOPRIO_SET.get(os.uname().machine)
    if call is not None:
        ctypes.CDLL(None, use_errno=True).syscall(call, IOPRIO_WHO_THREAD, 0, IOPRIO_IDLE)
