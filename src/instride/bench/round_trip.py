"""To the disk and back, in turn with bare writing and reading of as many bytes.

What a disk of a machine that is shared does in a second changes by the minute. What is held against
a floor is measured right beside it.
"""

from __future__ import annotations

import gc
import time
from pathlib import Path
from statistics import fmean

import torch

from instride import Saver
from instride.bench.floors import InTurn, direct_reading, direct_writing
from instride.bench.names import FEWEST_STEPS
from instride.bench.orders import Order
from instride.bench.report import RoundTrip
from instride.bench.timing import NUM_WARM, make_training, rest, time_save
from instride.bench.training import Training
from instride.bench.ways import WAYS
from instride.bench.ways.contract import NoSaving
from instride.store.directory import newest_first

NUM_TRIPS = 3


def go_round(order: Order, folder: Path) -> RoundTrip:
    training = make_training(order)
    before_s = _step_s(training, folder)
    writing = direct_writing(training.state_bytes, folder)
    done_s = [_save_twice(order, training, folder, trip, writing) for trip in range(NUM_TRIPS)]
    del training
    reading = direct_reading(newest_first(folder)[0].path)
    restore_s = []
    for _ in range(NUM_TRIPS):
        _forget(order.device)
        training = make_training(order)
        restore_s.append(_restore(training, folder))
        reading.once_more()
        after_s = _step_s(training, folder)
        del training
    return RoundTrip(
        first_done_s=[first_s for first_s, _ in done_s],
        done_s=[later_s for _, later_s in done_s],
        direct_write_s=writing.quickest_s,
        direct_writes_s=writing.took_s,
        restore_s=restore_s,
        direct_read_s=reading.quickest_s,
        direct_reads_s=reading.took_s,
        step_before_s=before_s,
        step_after_s=after_s,
    )


def _forget(device: str) -> None:
    """Be like a process that was just started."""
    gc.collect()  # torch itself keeps the first optimizer of a process until then
    if device != "cpu":
        torch.cuda.empty_cache()


def _save_twice(
    order: Order, training: Training, folder: Path, trip: int, writing: InTurn
) -> tuple[float, float]:
    """How long saves take beside training, the first of a writer and the next one, before as many
    bytes are written barely. A writer that saw that would think that others need the disk."""
    way = WAYS[order.way](training, folder)
    done_s = []
    for number in (2 * trip, 2 * trip + 1):
        rest(training, way, order.num_prepare_steps)
        done_s.append(time_save(training, way, number, FEWEST_STEPS).durable_s)
    way.close()
    writing.once_more()
    return done_s[0], done_s[1]


def _restore(training: Training, folder: Path) -> float:
    with Saver(folder, model=training.model, optimizer=training.optimizer) as saver:
        training.settle()
        start_s = time.perf_counter()
        saver.restore()
        training.settle()
        return time.perf_counter() - start_s


def _step_s(training: Training, folder: Path) -> float:
    nothing = NoSaving(training, folder)
    rest(training, nothing, NUM_WARM)
    return fmean(rest(training, nothing, NUM_WARM))
