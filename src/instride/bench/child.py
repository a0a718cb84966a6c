"""One task of the benchmark, in a process of its own: `python -m instride.bench.child`.

Reads what to do as JSON from the arguments, and behind it, if it is to end with its parent, the
number of that process; the last line that it prints is the answer.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

import msgspec
import torch

from instride.bench.floors import measure_device_floors, measure_floors, memcpy_s
from instride.bench.gpu_training import training_on
from instride.bench.often import save_often
from instride.bench.orders import (
    WATCHED,
    Answer,
    Hammered,
    Limits,
    Missing,
    NoDevice,
    Order,
    SavedOften,
    Task,
    ThereAndBack,
)
from instride.bench.report import Floors
from instride.bench.round_trip import go_round
from instride.bench.timing import (
    NUM_WARM,
    forget_training,
    make_training,
    time_preparing,
    time_saves,
)
from instride.bench.training import Training
from instride.bench.upkeep import measure_upkeep
from instride.bench.ways import WAYS
from instride.saver.beating import STEPS_TO_PEAK

PR_SET_PDEATHSIG = 1
NUM_WATCHED_SAVES = 2
NUM_BLOWS = 5
MOST_HAMMERED_PARAMS = 8 << 20
GARBAGE = 99.0
"""Written behind every save, where training goes on from. Not negative: an optimizer that has come
to step 0 divides by it."""


def answer(order: Order) -> Answer:
    if order.device != "cpu" and not torch.cuda.is_available():
        return NoDevice(order.device)
    try:
        if order.task is Task.FLOORS:
            return limits(order)
        with tempfile.TemporaryDirectory(dir=order.folder, prefix="bench-") as folder:
            if order.task is Task.UPKEEP:
                return measure_upkeep(Path(folder))
            if order.task is Task.TIME:
                return time_saves(order, Path(folder))
            if order.task is Task.PREPARE:
                return time_preparing(order, Path(folder))
            if order.task is Task.ROUND_TRIP:
                return ThereAndBack(go_round(order, Path(folder)))
            if order.task is Task.OFTEN:
                return SavedOften(save_often(order, Path(folder)))
            if order.watches_memory:
                watch_memory(order, Path(folder))
                forget_training(order.device)
        with tempfile.TemporaryDirectory(dir=order.folder, prefix="bench-") as folder:
            return hammer(order, Path(folder))
    except ImportError as error:
        return Missing(error.name or str(error))


def watch_memory(order: Order, folder: Path) -> None:
    """The same training, for the parent to watch: it says when there is nothing to see any more."""
    training = make_training(order)
    _train_alone(training, order.device)
    way = WAYS[order.way](training, folder)
    training.step(way.guard())
    for number in range(NUM_WATCHED_SAVES):
        ticket = way.save(number)
        training.step(way.guard())
        training.step(way.guard())
        ticket.wait()
    tell(WATCHED)
    way.close()


def hammer(order: Order, folder: Path) -> Hammered:
    """Overwrite everything the moment `save()` returns, and see whether the file shows it.

    What overwrites is a step of the optimizer, and one is made between any two saves, as in a
    training: what a way does about optimizers is what it does for everybody.
    """
    training = training_on(order.device, min(order.num_params, MOST_HAMMERED_PARAMS))
    _train_alone(training, order.device)
    training.queue()
    way = WAYS[order.way](training, folder)
    num_whole = 0
    for blow in range(1, NUM_BLOWS + 1):
        training.step(way.guard())
        training.queue()
        with way.guard():
            training.fill(float(blow))
        ticket = way.save(blow)
        with way.guard():
            training.fill(GARBAGE)
        ticket.wait()
        num_whole += not any(bool((tensor != blow).any()) for tensor in way.load(blow))
    way.close()
    return Hammered(NUM_BLOWS, num_whole)


def _train_alone(training: Training, device: str) -> None:
    """A way that fills a GPU has to leave what a step needs: until all lies there as it will. What
    an optimizer makes in its first step takes the place of other things."""
    for _ in range(STEPS_TO_PEAK if device == "cpu" else NUM_WARM):
        training.step(nullcontext())


def limits(order: Order) -> Limits:
    """On a GPU, the disk is measured by the round trip, in turn with what is held against it."""
    if order.device == "cpu":
        return Limits(measure_floors(order.num_bytes, order.folder))
    floors = Floors(memcpy_s(order.num_bytes), None)
    return Limits(floors, measure_device_floors(order.num_bytes, order.device))


def tell(line: bytes) -> None:
    sys.stdout.buffer.write(b"\n" + line + b"\n")
    sys.stdout.buffer.flush()


def end_with_parent(parent: int) -> None:
    """A benchmark that was stopped must not train on for minutes."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before, while all that is above was imported
        sys.exit(f"the benchmark that asked for this, process {parent}, has ended")


if __name__ == "__main__":
    if len(sys.argv) > 2:
        end_with_parent(int(sys.argv[2]))
    tell(msgspec.json.encode(answer(msgspec.json.decode(sys.argv[1], type=Order))))
