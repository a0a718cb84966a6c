"""Threads that let those of the training go first."""

from __future__ import annotations

import os
import threading

from instride.system.priority import make_thread_modest


def position() -> tuple[int, int]:
    """How the calling thread is scheduled, and with which nice value."""
    return os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


def test_a_modest_thread_yields_and_the_others_stay_as_they_were() -> None:
    before = position()
    seen: list[tuple[int, int]] = []

    def work() -> None:
        make_thread_modest()
        make_thread_modest()  # twice is once
        seen.append(position())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

    assert seen == [(os.SCHED_BATCH, max(before[1], 5))]
    assert position() == before
