"""Threads that let those of the training go first."""

from __future__ import annotations

import os
import threading

import pytest

from instride.system.priority import make_thread_modest


def position() -> tuple[int, int]:
    """How the calling thread is scheduled, and with which nice value."""
    return os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


@pytest.mark.parametrize(("preempts", "policy"), [(True, "SCHED_OTHER"), (False, "SCHED_BATCH")])
def test_a_modest_thread_yields_and_the_others_stay_as_they_were(
    preempts: bool, policy: str
) -> None:
    before = position()
    seen: list[tuple[int, int]] = []

    def work() -> None:
        make_thread_modest(preempts=preempts)
        make_thread_modest(preempts=preempts)  # twice is once
        seen.append(position())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

    assert seen == [(getattr(os, policy), max(before[1], 5))]
    assert position() == before


def test_a_thread_that_yields_more_already_stays_as_it_is() -> None:
    seen: list[tuple[int, int]] = []

    def work() -> None:
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 15)
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
        make_thread_modest(preempts=False)
        seen.append(position())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

    assert seen == [(os.SCHED_IDLE, 15)]
