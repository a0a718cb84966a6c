"""What trainers do that are about to be killed, and the state that they save."""

from __future__ import annotations

import os
import subprocess
import warnings
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch
import torch._dynamo

import instride
import instride.saver.saver  # now, as what it loads late: not in each process that is forked
import instride.saver.staging
import instride.saver.synchronous
import instride.system.background
from instride.errors import InstrideError, SaveFailedError
from instride.saver.engine import BackgroundEngine
from tests.crash.arriving import ArrivingCopy

NUM_VALUES = (9 << 20) // 4
"""More than two pieces of a file, so that pieces are written by several threads."""
STREAMED_VALUES = (26 << 20) // 4
"""More than the smallest arena holds."""


class Weights:
    """A part whose state follows from a number."""

    def __init__(self, num_values: int = NUM_VALUES) -> None:
        self.values = torch.zeros(num_values, dtype=torch.int32)
        self.names: list[str] = []

    def become(self, step: int) -> None:
        torch.arange(step, step + len(self.values), dtype=torch.int32, out=self.values)
        self.names = [f"after step {step}"]

    def is_of(self, step: int) -> bool:
        """Whether every value and every name is that of a step."""
        expected = torch.arange(step, step + len(self.values), dtype=torch.int32)
        return torch.equal(self.values, expected) and self.names == [f"after step {step}"]

    def state_dict(self) -> dict[str, Any]:
        return {"values": self.values, "names": self.names}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.values.copy_(state["values"])
        self.names = list(state["names"])


def save(saver: instride.Saver, weights: Weights, step: int) -> instride.Pending:
    """The state of a step becomes its checkpoint."""
    weights.become(step)
    return saver.save(step)


def writer_of(saver: instride.Saver) -> int:
    """The pid of the process that writes."""
    return engine_of(saver).courier.writer_pid


def engine_of(saver: instride.Saver) -> BackgroundEngine:
    """What saves for it, on a system where that can be done in the background."""
    assert isinstance(saver._engine, BackgroundEngine)
    return saver._engine


def let_arrive() -> None:
    """From now on, in this process, snapshots are written while they come into the arena."""
    instride.saver.staging.WholeCopy = ArrivingCopy  # type: ignore[attr-defined]


def train(
    line: Connection,
    store: Path,
    steps: list[int],
    keep: int | None = None,
    num_values: int = NUM_VALUES,
    *,
    arrives: bool = False,
    **options: Any,
) -> None:
    """Restore, then save steps, each waited for and reported; then close."""
    warnings.simplefilter("ignore", RuntimeWarning)
    if arrives:
        let_arrive()
    weights = Weights(num_values)
    saver = instride.Saver(store, keep=instride.Keep(last=keep), weights=weights, **options)
    line.send(("writer", writer_of(saver)))
    line.send(("restored", _restored(saver, weights)))
    for step in steps:
        weights.become(step)
        pending = saver.save(step)
        weights.become(-step)  # the next step goes on with the same memory
        try:
            pending.wait()
            line.send(("committed", step))
        except InstrideError as error:
            line.send(("failed", type(error).__name__, str(error)))
    try:
        saver.close()
        line.send(("closed", None))
    except InstrideError as error:
        line.send(("closed", type(error).__name__))


def train_synchronously(
    line: Connection, store: Path, steps: list[int], keep: int | None = None
) -> None:
    """The same where nothing can be done in the background."""
    warnings.simplefilter("ignore", RuntimeWarning)
    instride.system.background.is_possible = lambda: False
    weights = Weights()
    with instride.Saver(store, keep=instride.Keep(last=keep), weights=weights) as saver:
        line.send(("restored", _restored(saver, weights)))
        for step in steps:
            save(saver, weights, step).wait()
            line.send(("committed", step))


def train_on(
    line: Connection, store: Path, num_steps: int, keep: int, *, pack: bool = False,
    arrives: bool = False, **sizes: int,
) -> None:  # fmt: skip
    """Go on where the store is: save step after step, some of them waited for."""
    warnings.simplefilter("ignore", RuntimeWarning)
    if arrives:
        let_arrive()
    weights = Weights(**sizes)
    kept = instride.Keep(last=keep)
    try:
        with instride.Saver(store, keep=kept, weights=weights, pack=pack) as saver:
            first = (_restored(saver, weights) or 0) + 1
            line.send(("writer", writer_of(saver)))
            line.send(("restored", first - 1))
            for step in range(first, first + num_steps):
                weights.become(step)
                pending = saver.save(step)
                weights.become(-step)
                if step % 2:
                    pending.wait()
                    line.send(("committed", step))
    except SaveFailedError as error:
        line.send(("failed", str(error)))


def train_at_once(
    line: Connection, store: Path, step: int, *, waits: bool = False, **options: Any
) -> None:
    """Save a step when told to, and say so at once, or when it is committed; then go on for
    ever."""
    warnings.simplefilter("ignore", RuntimeWarning)
    weights = Weights()
    saver = instride.Saver(store, weights=weights, **options)
    line.send(("writer", writer_of(saver)))
    line.recv()
    weights.become(step)
    pending = saver.save(step)
    if waits:
        pending.wait()
    line.send(("saved", step))
    line.recv()


def open_store(line: Connection, store: Path) -> None:
    """Try to own a store; say what came of it."""
    warnings.simplefilter("ignore", RuntimeWarning)
    try:
        saver = instride.Saver(store, weights=Weights())
    except InstrideError as error:
        line.send((type(error).__name__, str(error)))
        return
    line.send(("owned", writer_of(saver)))
    line.recv()
    saver.close()


def fork_twice(line: Connection, store: Path) -> None:
    """Say how many descriptors a child of a child lacks that its parent had opened."""
    saver = instride.Saver(store, weights=Weights(1000))
    child = os.fork()
    if child == 0:
        opened = [os.open(os.devnull, os.O_RDONLY) for _ in range(20)]
        grandchild = os.fork()
        if grandchild == 0:
            os._exit(sum(not Path(f"/proc/self/fd/{fd}").exists() for fd in opened))
        os._exit(os.waitstatus_to_exitcode(os.waitpid(grandchild, 0)[1]))
    line.send(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    saver.close()


def train_with_loader(line: Connection, store: Path, step: int) -> None:
    """Save while forked data loaders run; then go on for ever."""
    warnings.simplefilter("ignore", RuntimeWarning)
    weights = Weights()
    saver = instride.Saver(store, weights=weights)
    loader = torch.utils.data.DataLoader(
        list(range(1000)), num_workers=2, multiprocessing_context="fork", persistent_workers=True
    )
    batches = iter(loader)
    next(batches)
    weights.become(step)
    saver.save(step).wait()
    workers = [worker.pid for worker in batches._workers]
    line.send(("running", writer_of(saver), workers))
    line.recv()


def train_with_heir(line: Connection, store: Path, step: int) -> None:
    """Save while a program runs that was given our end of the line to the writer."""
    warnings.simplefilter("ignore", RuntimeWarning)
    weights = Weights()
    saver = instride.Saver(store, weights=weights)
    end = engine_of(saver).courier._line.wire.socket.fileno()
    heir = subprocess.Popen(["sleep", "1000"], pass_fds=[end])
    weights.become(step)
    saver.save(step).wait()
    line.send(("running", writer_of(saver), [heir.pid]))
    line.recv()


def _restored(saver: instride.Saver, weights: Weights) -> int | None:
    """The step that was restored; None where there was nothing. Every value is looked at."""
    step = saver.restore() - 1
    if step < 0:
        return None
    assert weights.is_of(step), f"what was restored is not the state of step {step}"
    return step
