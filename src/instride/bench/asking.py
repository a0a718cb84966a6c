"""Having a task done by a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import uuid
from collections.abc import Iterable
from typing import Any, TypeVar

import msgspec

from instride.bench.memory import VARIABLE, PeakMemory
from instride.bench.names import BYTES_A_PARAM
from instride.bench.orders import WATCHED, Answer, Missing, NoDevice, Order, Task
from instride.errors import BenchFailedError

LONGEST_S = 900.0
"""A rival that hangs is left out."""
TIMES_MOVED = {Task.ROUND_TRIP: 30, Task.OFTEN: 50}
"""How many times the state is written and read where all of it is waited for."""
SLOWEST_BYTES_PER_S = 100e6
"""Of a disk that anybody trains with."""
ANSWER_BEGINS = b'{"type":'

A = TypeVar("A", bound=msgspec.Struct)


class ChildFailedError(Exception):
    """Nothing can be measured there, and why."""


class NotInstalledError(ChildFailedError):
    """What would be measured is not there."""


def _longest_s(order: Order) -> float:
    moved_bytes = TIMES_MOVED.get(order.task, 0) * BYTES_A_PARAM * order.num_params
    return LONGEST_S + moved_bytes / SLOWEST_BYTES_PER_S


def ask(order: Order, kind: type[A]) -> tuple[A, int]:
    """The answer of a child, and the most memory it had until it said that it was watched.

    Raises ChildFailedError, and BenchFailedError where no other child could do better.
    """
    os.sync()  # what the run before left to be written is not this one's to pay
    mark = uuid.uuid4().hex
    words = [msgspec.json.encode(order).decode(), str(os.getpid())]
    with tempfile.TemporaryFile() as complaints:
        process = subprocess.Popen(
            [sys.executable, "-m", "instride.bench.child", *words],
            stdout=subprocess.PIPE,
            stderr=complaints,
            env={**os.environ, VARIABLE: mark},
        )
        alarm = threading.Timer(_longest_s(order), process.kill)
        alarm.daemon = True  # nobody who is interrupted below waits for it to go off
        memory: PeakMemory | None = None
        try:
            alarm.start()
            memory = PeakMemory(mark) if order.task is Task.HAMMER else None
            assert process.stdout is not None
            heard = _hear(process.stdout, memory)
            process.wait()
        finally:
            alarm.cancel()
            if memory is not None:
                memory.stop()
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()
        if heard is None or process.returncode != 0:
            complaints.seek(0)
            raise ChildFailedError(_last_line(complaints) or f"ended with {process.returncode}")
    answer: Any = msgspec.json.decode(heard, type=Answer)
    if isinstance(answer, Missing):
        raise NotInstalledError(f"`{answer.name}` is not installed")
    if isinstance(answer, NoDevice):
        raise BenchFailedError(answer.name, is_device=True)
    assert isinstance(answer, kind)
    return answer, memory.peak_bytes if memory is not None else 0


def _hear(lines: Iterable[bytes], memory: PeakMemory | None) -> bytes | None:
    """The answer. Nobody waits for the end of the output: helpers of a rival may keep it open."""
    for line in lines:
        if memory is not None and line.strip() == WATCHED:
            memory.stop()
        if line.startswith(ANSWER_BEGINS):
            return line
    return None


def _last_line(lines: Iterable[bytes]) -> str:
    told = [line.decode(errors="replace").strip() for line in lines]
    return next((line for line in reversed(told) if line), "")
