"""The governor beside a real training in another process group, which only its log tells of."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from instride.governor.governing import Governor
from instride.governor.model import Decision
from instride.governor.pace import Pace, StoppedError
from instride.governor.signals import Signals
from instride.governor.tail import LogSteps
from instride.governor.yielding import yield_thread

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

pytestmark = pytest.mark.torch

TRAINING = """
import sys, time, torch
log = open(sys.argv[1], "w", buffering=1)
model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 256))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
step = 0
while True:
    begun = time.perf_counter()
    for _ in range(4):
        optimizer.zero_grad()
        model(torch.randn(64, 256)).pow(2).mean().backward()
        optimizer.step()
    took_ms = 1000 * (time.perf_counter() - begun)
    log.write(f"iter {step}: loss 1.0, time {took_ms:.3f}ms, mfu 1.00%\\n")
    step += 1
"""
PIECE = os.urandom(1 << 19) + bytes(1 << 19)
LIMIT_S = 240.0


class Compressor:
    """Compresses the same piece again and again, in threads that yield."""

    def __init__(self, pace: Pace, num_threads: int) -> None:
        self._pace = pace
        self._threads = [threading.Thread(target=self._work) for _ in range(num_threads)]
        for thread in self._threads:
            thread.start()

    def _work(self) -> None:
        yield_thread()
        try:
            while True:
                with self._pace.turn(len(PIECE)):
                    zstd.compress(PIECE, 3)
        except StoppedError:
            return

    def join(self) -> None:
        self._pace.stop()
        for thread in self._threads:
            thread.join()


@pytest.fixture
def training(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    log = tmp_path / "train.log"
    process = subprocess.Popen([sys.executable, "-c", TRAINING, str(log)], process_group=0)
    try:
        yield process, log
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def await_that(condition: object, what: str) -> None:
    end_s = time.monotonic() + LIMIT_S
    while not condition():  # type: ignore[operator]
        if time.monotonic() > end_s:
            pytest.fail(f"not within {LIMIT_S:.0f} s: {what}")
        time.sleep(0.05)


def test_it_sees_the_steps_measures_what_it_does_and_ends_fast_when_training_is_over(
    training: tuple[subprocess.Popen[bytes], Path],
) -> None:
    process, log = training
    decisions: list[Decision] = []
    pace = Pace()
    signals = Signals(
        LogSteps(log), trainer_pids=lambda: [process.pid] if process.poll() is None else []
    )
    governor = Governor(pace, signals, most_threads=2, note=decisions.append)
    governor.start()
    await_that(lambda: signals.read(time.monotonic()), "steps in the log")
    compressor = Compressor(pace, 2)
    try:
        governor.begin(1 << 50)
        await_that(lambda: governor.cost_so_far().is_known, "a cost that is known")
        assert decisions[0].reason == "unknown-yet"
        assert all(decision.is_open for decision in decisions)
        worked = pace.tally().num_bytes
        assert worked > 0
        process.kill()
        await_that(
            lambda: governor.decision is not None and governor.decision.reason == "training-over",
            "the end of the training to be noticed",
        )
        assert governor.decision is not None
        assert (governor.decision.effort, governor.decision.duty) == (1.0, 1.0)
        await_that(lambda: pace.tally().num_bytes > worked, "work after the training")
        cost = governor.end()
        assert cost.is_known
        assert cost.num_bytes > 0
    finally:
        compressor.join()
        governor.close()


def test_after_mode_waits_for_the_training_to_end(
    training: tuple[subprocess.Popen[bytes], Path],
) -> None:
    process, log = training
    pace = Pace()
    signals = Signals(
        LogSteps(log), trainer_pids=lambda: [process.pid] if process.poll() is None else []
    )
    governor = Governor(pace, signals, mode="after", most_threads=2)
    governor.start()
    governor.begin(1 << 50)
    compressor = Compressor(pace, 2)
    try:
        await_that(lambda: pace.is_waiting, "work that is held back")
        await_that(lambda: signals.has_steps(time.monotonic()), "steps")
        assert pace.tally().num_bytes == 0
        assert not pace.may_start
        process.kill()
        await_that(lambda: pace.tally().num_bytes > 0, "work after the training")
    finally:
        compressor.join()
        governor.close()
