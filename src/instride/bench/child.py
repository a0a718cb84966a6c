"""One task of the benchmark, in a process of its own: `python -m instride.bench.child`.

Reads what to do as JSON from the arguments; the last line that it prints is the answer.
"""

from __future__ import annotations

import ctypes
import signal
import sys
import tempfile
import threading
import time
from contextlib import nullcontext
from pathlib import Path
from statistics import fmean

import msgspec

from instride import Saver
from instride.bench.floors import measure_device_floors, measure_floors
from instride.bench.gpu_training import GpuTraining, training_on
from instride.bench.names import MOST_STEPS
from instride.bench.orders import (
    WATCHED,
    Answer,
    Hammered,
    Limits,
    Missing,
    Order,
    Prepared,
    Save,
    Task,
    Timed,
    WayBack,
)
from instride.bench.report import Restored
from instride.bench.training import Training
from instride.bench.upkeep import measure_upkeep
from instride.bench.ways import WAYS
from instride.bench.ways.contract import NoSaving, Ticket, Way

PR_SET_PDEATHSIG = 1
NUM_WARM = 10
NUM_WATCHED_SAVES = 2
WATCH_S = 0.002
NUM_BLOWS = 5
MOST_HAMMERED_PARAMS = 8 << 20


def answer(order: Order) -> Answer:
    try:
        if order.task is Task.FLOORS:
            return Limits(
                measure_floors(order.num_bytes, order.folder),
                measure_device_floors(order.num_bytes, order.folder, order.device),
            )
        with tempfile.TemporaryDirectory(dir=order.folder, prefix="bench-") as folder:
            if order.task is Task.UPKEEP:
                return measure_upkeep(Path(folder))
            if order.task is Task.TIME:
                return time_saves(order, Path(folder))
            if order.task is Task.PREPARE:
                return Prepared(time_preparing(order, Path(folder)))
            if order.task is Task.RESTORE:
                return WayBack(time_restore(order, Path(folder)))
            if order.watches_memory:
                watch_memory(order, Path(folder))
        with tempfile.TemporaryDirectory(dir=order.folder, prefix="bench-") as folder:
            return Hammered(is_torn(order, Path(folder)))
    except ImportError as error:
        return Missing(error.name or str(error))


def time_saves(order: Order, folder: Path) -> Timed:
    """Train in windows, with a save at the start of every other one, and compare neighbours."""
    training = make_training(order)
    nothing = NoSaving(training, folder)
    rest(training, nothing, NUM_WARM)
    before_s = rest(training, nothing, order.most_rest_steps) if order.is_saved_at_once else []
    way = WAYS[order.way](training, folder)
    rest(training, way, order.num_prepare_steps)
    saves = []
    before_s = before_s or rest(training, way, order.num_rest_steps)
    for number in range(order.num_saves):
        save = time_save(training, way, number, order.num_rest_steps)
        after_s = rest(training, way, min(len(save.steps_s), order.most_rest_steps))
        saves.append(msgspec.structs.replace(save, base_steps_s=before_s + after_s))
        before_s = after_s
    idle_s = [
        idle_durable_s(way, order.num_saves + number) for number in range(order.num_idle_saves)
    ]
    way.close()
    return Timed(
        training.state_bytes,
        saves,
        idle_s,
        way.is_synced,
        training.forward_and_backward_s() if isinstance(training, GpuTraining) else None,
    )


def time_preparing(order: Order, folder: Path) -> list[float]:
    """Windows with a way that was just made, between windows without any: a clock that drifts is
    the same in all of them."""
    training = make_training(order)
    nothing = NoSaving(training, folder)
    rest(training, nothing, NUM_WARM)
    before_s = rest(training, nothing, order.num_rest_steps)
    costs_s = []
    for number in range(order.num_saves):
        fresh = folder / str(number)
        fresh.mkdir()
        way = WAYS[order.way](training, fresh)
        during_s = rest(training, way, order.num_prepare_steps)
        way.close()
        after_s = rest(training, nothing, order.num_rest_steps)
        costs_s.append(sum(during_s) - len(during_s) * fmean(before_s + after_s))
        before_s = after_s
    return costs_s


def make_training(order: Order) -> Training:
    return training_on(order.device, order.num_params, is_synced=order.is_synced_loop)


def rest(training: Training, way: Way, num_steps: int) -> list[float]:
    """Steps with nothing else going on; what a device has left to do counts as the last one's."""
    steps_s = [training.step(way.guard()) for _ in range(num_steps)]
    steps_s[-1] += training.settle()
    return steps_s


def time_save(training: Training, way: Way, number: int, num_steps: int) -> Save:
    """Save, and train on until nothing of it goes on any more."""
    start_s = time.perf_counter()
    ticket = way.save(number)
    call_s = time.perf_counter() - start_s
    watch = Watch(ticket, start_s)
    steps_s: list[float] = []
    while len(steps_s) < num_steps or (not ticket.is_over() and len(steps_s) < MOST_STEPS):
        steps_s.append(training.step(way.guard()))
    steps_s[-1] += training.settle()
    window_s = time.perf_counter() - start_s
    ticket.wait()
    return Save(call_s, window_s, watch.durable_s(), steps_s)


def idle_durable_s(way: Way, number: int) -> float:
    """How long a save takes while nobody trains, and nothing goes on of the save before."""
    start_s = time.perf_counter()
    ticket = way.save(number)
    ticket.wait()
    took_s = time.perf_counter() - start_s
    while not ticket.is_over():
        time.sleep(WATCH_S)
    return took_s


class Watch:
    """Notes when a save was done, at a few milliseconds."""

    def __init__(self, ticket: Ticket, start_s: float) -> None:
        self._ticket = ticket
        self._start_s = start_s
        self._end_s: float | None = time.perf_counter() if ticket.is_done() else None
        self._thread = threading.Thread(target=self._look, daemon=True)
        if self._end_s is None:
            self._thread.start()

    def _look(self) -> None:
        while not self._ticket.is_done():
            time.sleep(WATCH_S)
        self._end_s = time.perf_counter()

    def durable_s(self) -> float:
        if self._thread.ident is not None:
            self._thread.join()
        assert self._end_s is not None
        return self._end_s - self._start_s


def watch_memory(order: Order, folder: Path) -> None:
    """The same training, for the parent to watch: it says when there is nothing to see any more."""
    training = make_training(order)
    way = WAYS[order.way](training, folder)
    training.step(way.guard())
    for number in range(NUM_WATCHED_SAVES):
        ticket = way.save(number)
        training.step(way.guard())
        training.step(way.guard())
        ticket.wait()
    tell(WATCHED)
    way.close()


def is_torn(order: Order, folder: Path) -> bool:
    """Overwrite everything the moment `save()` returns, and see whether the file shows it."""
    training = training_on(order.device, min(order.num_params, MOST_HAMMERED_PARAMS))
    training.step(nullcontext())
    training.queue()
    way = WAYS[order.way](training, folder)
    training.step(way.guard())
    torn = False
    for blow in range(1, NUM_BLOWS + 1):
        training.queue()
        with way.guard():
            training.fill(float(blow))
        ticket = way.save(blow)
        with way.guard():
            training.fill(-1.0)
        ticket.wait()
        torn |= any(bool((tensor != blow).any()) for tensor in way.load(blow))
    way.close()
    return torn


def time_restore(order: Order, folder: Path) -> Restored:
    """Train, save, and go on in a training that was made anew."""

    def trained(training: Training) -> float:
        rest(training, nothing, NUM_WARM)
        return fmean(rest(training, nothing, NUM_WARM))

    training = make_training(order)
    nothing = NoSaving(training, folder)
    before_s = trained(training)
    with Saver(folder, model=training.model, optimizer=training.optimizer) as saver:
        saver.save(1).wait()
    del training, nothing, saver
    training = make_training(order)
    nothing = NoSaving(training, folder)
    with Saver(folder, model=training.model, optimizer=training.optimizer) as saver:
        training.settle()
        start_s = time.perf_counter()
        saver.restore()
        training.settle()
        restore_s = time.perf_counter() - start_s
    return Restored(restore_s, before_s, trained(training))


def tell(line: bytes) -> None:
    sys.stdout.buffer.write(b"\n" + line + b"\n")
    sys.stdout.buffer.flush()


def end_with_parent() -> None:
    """A benchmark that was stopped must not train on for minutes."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


if __name__ == "__main__":
    end_with_parent()
    tell(msgspec.json.encode(answer(msgspec.json.decode(sys.argv[1], type=Order))))
