"""Memory is summed over all processes of a run, also those that left the family."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from instride.bench.memory import VARIABLE, PeakMemory, processes_with, pss_bytes

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
HELD_BYTES = 64 << 20
HOLD = f"""
import os, subprocess, sys
if len(sys.argv) > 1:
    subprocess.Popen([sys.executable, "-c", sys.argv[1]], start_new_session=True,
                     stdin=0, stdout=1)
held = bytearray(os.urandom(1) * {HELD_BYTES})
print("held", flush=True)
sys.stdin.read()
"""
"""Holds memory, and may start another one that does; both end with their input."""


@contextmanager
def holding(*args: str) -> Iterator[str]:
    """A run with memory in as many processes as there are arguments, and one."""
    run = uuid.uuid4().hex
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, *args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, VARIABLE: run},
    )
    with process:
        assert process.stdout is not None
        assert process.stdin is not None
        for _ in range(1 + len(args)):
            assert process.stdout.readline() == b"held\n"
        yield run
        process.stdin.close()


def test_a_process_in_a_session_of_its_own_is_found() -> None:
    with holding(HOLD) as run:
        found = processes_with(f"{VARIABLE}={run}".encode())
        assert len(found) == 2
        assert all(pss_bytes(process) >= HELD_BYTES for process in found)
    assert processes_with(f"{VARIABLE}={uuid.uuid4().hex}".encode()) == []


def test_the_peak_is_of_all_processes_together() -> None:
    with holding(HOLD) as run:
        memory = PeakMemory(run)
        memory.look()
        assert 2 * HELD_BYTES <= memory.stop() < 3 * HELD_BYTES


def test_a_process_that_has_gone_takes_nothing() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert pss_bytes(Path(f"/proc/{process.pid}")) == 0
