"""Yielding, in processes of its own: what a thread or a group gives up cannot be had back here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from instride.governor.family import is_only_ours, members_of_group, members_of_session
from instride.system import autogroup

LOWER = """
import os, sys
from instride.governor.yielding import yield_process
from instride.system import autogroup
notes = yield_process([int(pid) for pid in sys.argv[1:]])
print(notes, autogroup.of().nice)
"""
IDLE = """
import os, threading
from instride.governor.yielding import yield_thread
seen = []
def work():
    yield_thread()
    seen.append(os.sched_getscheduler(0))
thread = threading.Thread(target=work)
thread.start()
thread.join()
print(seen == [os.SCHED_IDLE], os.sched_getscheduler(0) == os.SCHED_OTHER)
"""


def run(code: str, *arguments: str, own_session: bool = False) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        start_new_session=own_session, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.strip()


needs_autogroups = pytest.mark.skipif(
    not autogroup.is_enabled() or autogroup.of() is None, reason="the kernel has no autogroups"
)


@needs_autogroups
def test_a_session_of_its_own_is_lowered() -> None:
    assert run(LOWER, own_session=True) == "[] 19"


@needs_autogroups
def test_a_session_that_a_training_shares_is_left_alone() -> None:
    training = subprocess.Popen(["sleep", "60"])
    try:
        before = autogroup.of()
        assert before is not None
        assert run(LOWER, str(training.pid)) == f"[] {before.nice}"
    finally:
        training.kill()
        training.wait()


@needs_autogroups
def test_what_was_lowered_is_as_before_when_the_process_has_ended() -> None:
    code = f"""
import subprocess, sys
from instride.system import autogroup
subprocess.run([sys.executable, "-c", {LOWER!r}], check=True)
print(autogroup.of().nice)
"""
    assert run(code, own_session=True).splitlines() == ["[] 19", "0"]


def test_only_the_thread_that_asks_becomes_idle() -> None:
    assert run(IDLE) == "True True"


def test_a_stranger_in_a_group_is_seen() -> None:
    code = """
import os
from instride.governor.family import is_only_ours, members_of_session
print(is_only_ours(members_of_session()), is_only_ours([os.getpid(), int(os.sys.argv[1])]))
"""
    stranger = subprocess.Popen(["sleep", "60"])
    try:
        assert run(code, str(stranger.pid), own_session=True) == "True False"
    finally:
        stranger.kill()
        stranger.wait()


def test_a_group_that_cannot_be_read_counts_as_shared(tmp_path: Path) -> None:
    assert members_of_group(tmp_path) is None
    assert not is_only_ours(None)
    assert members_of_session()


@needs_autogroups
def test_a_deadline_gives_a_session_its_weight_back_and_takes_it_again() -> None:
    code = """
import time
from instride.governor.yielding import stand_up, yield_process
from instride.system import autogroup
seen = []
yield_process()
for is_urgent in (True, False):
    seen.append(autogroup.of().nice)
    time.sleep(0.15)  # the kernel takes no more than ten changes a second
    stand_up(is_urgent)
print(*seen, autogroup.of().nice)
"""
    assert run(code, own_session=True) == "19 0 19"
