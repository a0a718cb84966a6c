"""Windows of steps, with saves in some of them, and what the clock shows."""

from __future__ import annotations

import gc
import threading
import time
from pathlib import Path
from statistics import fmean

import msgspec
import torch

from instride.bench.gpu_training import GpuTraining, training_on
from instride.bench.names import MOST_STEPS
from instride.bench.orders import Order, Prepared, Save, Timed
from instride.bench.training import Training
from instride.bench.ways import WAYS
from instride.bench.ways.contract import NoSaving, Ticket, Way

NUM_WARM = 10
WATCH_S = 0.002
NUM_PASSES = 5
"""A promise is made of their median."""


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
        _passes_s(training) if isinstance(training, GpuTraining) else [],
    )


def _passes_s(training: GpuTraining) -> list[float]:
    return [training.forward_and_backward_s() for _ in range(NUM_PASSES)]


def time_preparing(order: Order, folder: Path) -> Prepared:
    """Windows with a way that was just made, between windows without any: a clock that drifts is
    the same in all of them."""
    training = make_training(order)
    nothing = NoSaving(training, folder)
    rest(training, nothing, NUM_WARM)
    before_s = rest(training, nothing, order.num_rest_steps)
    costs_s, told_s, making_s = [], [], []
    for number in range(order.num_saves):
        fresh = folder / str(number)
        fresh.mkdir()
        start_s = time.perf_counter()
        way = WAYS[order.way](training, fresh)
        making_s.append(time.perf_counter() - start_s)
        during_s = rest(training, way, order.num_prepare_steps)
        told_s.append(way.prepare_cost_s)
        way.close()
        after_s = rest(training, nothing, order.num_rest_steps)
        costs_s.append(sum(during_s) - len(during_s) * fmean(before_s + after_s))
        before_s = after_s
    return Prepared(costs_s, told_s, making_s)


def make_training(order: Order) -> Training:
    return training_on(order.device, order.num_params, is_synced=order.is_synced_loop)


def forget_training(device: str) -> None:
    """Be like a process that was just started, once nobody has the training any more."""
    gc.collect()  # torch itself keeps the first optimizer of a process until then
    if device != "cpu":
        torch.cuda.empty_cache()


def rest(training: Training, way: Way, num_steps: int) -> list[float]:
    """Steps with nothing else going on; what a device has left to do counts as the last one's."""
    steps_s = [training.step(way.guard()) for _ in range(num_steps)]
    steps_s[-1] += training.settle()
    return steps_s


def time_save(
    training: Training, way: Way, number: int, num_steps: int, most_steps: int | None = MOST_STEPS
) -> Save:
    """Save, and train on until nothing of it goes on any more; or for so many steps, from where on
    it is waited for."""
    start_s = time.perf_counter()
    ticket = way.save(number)
    call_s = time.perf_counter() - start_s
    watch = Watch(ticket, start_s)
    steps_s: list[float] = []
    while len(steps_s) < num_steps or (not ticket.is_over() and len(steps_s) != most_steps):
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
