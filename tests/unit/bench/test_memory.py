"""Memory is summed over all processes of a run, also those that left the family."""

from __future__ import annotations

import mmap
import os
import re
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from instride.bench.memory import VARIABLE, PeakMemory, memory_bytes, processes_with

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
HELD_BYTES = 64 << 20
HOLD = f"""
import os, subprocess, sys
if len(sys.argv) > 1:
    subprocess.Popen([sys.executable, "-c", sys.argv[1]], start_new_session=True,
                     stdin=0, stdout=1)
held = bytearray(os.urandom(1) * {HELD_BYTES})
os.write(1, b"held\\n")  # at once: the other one writes there as well
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
        assert all(memory_bytes([process]) >= HELD_BYTES for process in found)
    assert processes_with(f"{VARIABLE}={uuid.uuid4().hex}".encode()) == []


def test_the_peak_is_of_all_processes_together() -> None:
    with holding(HOLD) as run:
        memory = PeakMemory(run)
        memory.look()
        assert 2 * HELD_BYTES <= memory.stop() < 3 * HELD_BYTES


def test_a_process_that_has_gone_takes_nothing() -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    assert memory_bytes([Path(f"/proc/{process.pid}")]) == 0


def test_it_is_what_the_kernel_says() -> None:
    """Of this process, whose pages are its own or those of libraries."""
    told = re.search(r"^Pss:\s+(\d+) kB", Path("/proc/self/smaps_rollup").read_text(), re.MULTILINE)
    assert told is not None
    here = memory_bytes([Path(f"/proc/{os.getpid()}")])
    assert here == pytest.approx(int(told[1]) * 1024, rel=0.1)


def test_memory_that_two_processes_share_counts_once_whoever_has_looked_at_it() -> None:
    """Also what neither of them has mapped: it is taken from the machine all the same."""
    here = Path(f"/proc/{os.getpid()}")
    before = memory_bytes([here])
    fd = os.memfd_create("test")
    try:
        os.posix_fallocate(fd, 0, 2 * HELD_BYTES)
        with mmap.mmap(fd, HELD_BYTES) as memory:
            memory.write(bytes(HELD_BYTES))
            other = subprocess.Popen(
                [sys.executable, "-c", LOOK, str(fd)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[fd],
            )  # fmt: skip
            with other:
                assert other.stdout is not None
                assert other.stdout.readline() == b"mapped\n"
                there = Path(f"/proc/{other.pid}")
                alone = memory_bytes([there]) - 2 * HELD_BYTES
                both = memory_bytes([here, there])
                assert both - before - alone == pytest.approx(2 * HELD_BYTES, rel=0.2)
                other.kill()
    finally:
        os.close(fd)


LOOK = f"""
import mmap, sys
memory = mmap.mmap(int(sys.argv[1]), {HELD_BYTES})
sum(memory[:: mmap.PAGESIZE])
print("mapped", flush=True)
sys.stdin.read()
"""
