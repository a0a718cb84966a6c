"""Runs one training, and beside it the rivals one after the other, in blocks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from statistics import median

import msgspec

from instride.bench.interference.blocks import Block, Steps, inflation, typical
from instride.bench.interference.names import (
    DATA,
    DEFAULT_BLOCKS,
    DEFAULT_MEGABYTES,
    DEFAULT_SECONDS,
    LOG,
    MOST_ALONE_S,
    NAMES,
    NOTHING,
    NOTHING_AGAIN,
    OURS,
    OURS_LONGER,
    OURS_REST_LONGER,
    STEPS,
    TRACED,
    Scenario,
)
from instride.bench.interference.report import SCHEMA, Report, Row
from instride.bench.interference.rivals import Rival
from instride.bench.machine import machine
from instride.bench.report import Machine
from instride.bench.scratch import scratch_in
from instride.errors import BenchFailedError, MissingLibraryError

TRAINEE = "instride.bench.interference.trainee"
CHECKPOINT = "step_100.pt"
START_S = 120.0
WARM_STEPS = 20
DATA_BYTES = 1 << 30
PART_BYTES = 64 << 20


class Request(msgspec.Struct, frozen=True):
    scenario: Scenario = Scenario.CPU
    rows: Sequence[str] = NAMES
    num_bytes: int = DEFAULT_MEGABYTES << 20
    num_blocks: int = DEFAULT_BLOCKS
    block_s: float = DEFAULT_SECONDS
    folder: str = "."


class _Measured(msgspec.Struct):
    """What went on for one row, and when."""

    works: list[Block]
    rests: list[Block]
    finish_s: float | None = None
    alone_s: float | None = None
    peak_bytes: int = 0
    said: str | None = None


def run(request: Request, on_progress: Callable[[str], None] = lambda text: None) -> Report:
    """Measure all that was asked for. Raises MissingLibraryError, BenchFailedError."""
    if find_spec("torch") is None:
        raise MissingLibraryError("bench interference", "torch")
    begun_s = time.monotonic()
    here = machine(request.folder)
    with scratch_in(request.folder) as scratch:
        folder = Path(scratch).absolute()
        file = _prepare(folder, request)
        with _Training(folder, request.scenario) as training:
            measured = {}
            for name in sorted(request.rows, key=NAMES.index):
                training.check()
                on_progress(f"{request.scenario}: {name}")
                measured[name] = _measure(name, file, folder / LOG, request, training)
        steps = Steps(folder)
        return _report(request, here, steps, measured, time.monotonic() - begun_s)


def _prepare(folder: Path, request: Request) -> Path:
    """A checkpoint in a folder of its own, and what the training reads."""
    import torch

    checkpoints = folder / "checkpoints"
    checkpoints.mkdir()
    num_floats = max(1, request.num_bytes // 4)
    state = {"weights": torch.randn(num_floats) * 0.02}
    torch.save(state, checkpoints / CHECKPOINT)
    if request.scenario is Scenario.DISK:
        with (folder / DATA).open("wb") as data:
            for _ in range(max(1, min(DATA_BYTES, request.num_bytes) // PART_BYTES)):
                data.write(os.urandom(PART_BYTES))
    os.sync()
    return checkpoints / CHECKPOINT


class _Training:
    """A process group of its own, in the session of this terminal."""

    def __init__(self, folder: Path, scenario: Scenario) -> None:
        self._folder = folder
        self._process = subprocess.Popen(
            [sys.executable, "-m", TRAINEE, str(folder), scenario],
            process_group=0,
            stderr=subprocess.PIPE,
        )

    def __enter__(self) -> _Training:
        end_s = time.monotonic() + START_S
        steps = self._folder / STEPS
        while not steps.exists() or len(Steps(self._folder)) < WARM_STEPS:
            self.check()
            if time.monotonic() > end_s:
                raise BenchFailedError(f"no {WARM_STEPS} steps within {START_S:.0f} s")
            time.sleep(0.1)
        return self

    def check(self) -> None:
        if self._process.poll() is not None:
            assert self._process.stderr is not None
            lines = self._process.stderr.read().decode(errors="replace").strip().splitlines()
            raise BenchFailedError(lines[-1] if lines else "the training has ended")

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        self._process.send_signal(signal.SIGSTOP)
        yield
        self._process.send_signal(signal.SIGCONT)

    def end(self) -> None:
        self._process.kill()
        self._process.wait()

    def __exit__(self, *_: object) -> None:
        self.end()
        assert self._process.stderr is not None
        self._process.stderr.close()


def _measure(name: str, file: Path, log: Path, request: Request, training: _Training) -> _Measured:
    rest_s = request.block_s * (OURS_REST_LONGER if name == OURS else 1.0)
    measured = _Measured([], [_block(rest_s)])
    if name in (NOTHING, NOTHING_AGAIN):
        for _ in range(request.num_blocks):
            measured.works.append(_block(request.block_s))
            measured.rests.append(_block(request.block_s))
        return measured
    work_s = request.block_s * (OURS_LONGER if name == OURS else 1.0)
    rival = Rival(name, file, log)
    try:
        for _ in range(request.num_blocks):
            rival.resume()
            measured.works.append(_block(work_s))
            rival.suspend()
            measured.rests.append(_block(rest_s))
        beside_s = rival.worked_s
        if rival.finish_s is None:
            _finish_alone(rival, training, is_last=name == OURS)
    finally:
        rival.end()
    if rival.failed is not None:
        raise BenchFailedError(rival.failed)
    measured.finish_s, measured.said = rival.finish_s, rival.said
    if rival.finish_s is not None:
        measured.alone_s = max(0.0, rival.finish_s - beside_s)
    measured.peak_bytes = rival.peak_bytes
    return measured


def _finish_alone(rival: Rival, training: _Training, *, is_last: bool) -> None:
    """Without the training: whoever asks for what is left of a machine gets all of it then, and the
    agent, which comes last, sees that there is nobody any more to hold back for."""
    if is_last:
        training.end()
        rival.resume()
        rival.await_done(MOST_ALONE_S)
        return
    with training.standing_still():
        rival.resume()
        rival.await_done(MOST_ALONE_S)
        rival.suspend()


def _block(seconds: float) -> Block:
    """Let so much time pass."""
    start_s = time.monotonic()
    time.sleep(seconds)
    return Block(start_s, time.monotonic())


def _report(
    request: Request, here: Machine, steps: Steps, measured: dict[str, _Measured], took_s: float
) -> Report:
    rows = [_row(name, each, steps) for name, each in measured.items()]
    rests = [rest for each in measured.values() for rest in each.rests]
    quiet = [step_s for rest in rests for step_s in steps.within(rest)]
    traces = []
    for name in TRACED:
        if name in measured:
            block = typical(steps, measured[name].works, measured[name].rests)
            traces.append(steps.trace(name, block, request.block_s, request.block_s))
    return Report(
        SCHEMA, here, request.scenario, request.num_bytes, request.block_s, median(quiet), took_s,
        rows, traces,
    )  # fmt: skip


def _row(name: str, measured: _Measured, steps: Steps) -> Row:
    found = inflation(steps, measured.works, measured.rests)
    if found is None:
        raise BenchFailedError(f"a block of `{name}` is shorter than a step: take longer ones")
    return Row(
        name, len(measured.works), found.median, found.mean, found.p95, found.spread,
        measured.finish_s, measured.alone_s, measured.peak_bytes, measured.said,
    )  # fmt: skip
