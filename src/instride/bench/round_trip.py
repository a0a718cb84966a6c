"""To the disk and back, in turn with bare writing and reading of as many bytes.

What a disk of a machine that is shared does in a second changes by the minute. What is held against
a floor is measured right beside it.
"""

from __future__ import annotations

import time
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from instride import Saver
from instride.bench.floors import InTurn, direct_reading, direct_writing
from instride.bench.governed import decisions_by_step
from instride.bench.names import FEWEST_STEPS
from instride.bench.orders import Order
from instride.bench.report import RoundTrip
from instride.bench.timing import NUM_WARM, forget_training, make_training, rest, time_save
from instride.bench.training import Training
from instride.bench.ways import WAYS
from instride.bench.ways.contract import NoSaving
from instride.store.directory import newest_first

NUM_TRIPS = 3
NUM_WINDOWS = 3
"""Of steps, in each training that was made or restored."""


class _Saved(NamedTuple):
    """What one `Saver` did: how long its saves took, and what it says that preparing has cost."""

    first_s: float
    next_s: float
    prepare_told_s: float


def go_round(order: Order, folder: Path) -> RoundTrip:
    training = make_training(order)
    before_s = _steps_s(training, folder)
    writing = direct_writing(training.state_bytes, folder)
    saved = [_save_twice(order, training, folder, trip, writing) for trip in range(NUM_TRIPS)]
    decided = decisions_by_step(folder)
    del training
    reading = direct_reading(newest_first(folder)[0].path)
    restore_s: list[float] = []
    after_s: list[float] = []
    for _ in range(NUM_TRIPS):
        forget_training(order.device)
        training = make_training(order)
        restore_s.append(_restore(training, folder))
        reading.once_more()
        after_s += _steps_s(training, folder)
        del training
    return RoundTrip(
        first_done_s=[each.first_s for each in saved],
        done_s=[each.next_s for each in saved],
        direct_write_s=writing.quickest_s,
        direct_writes_s=writing.took_s,
        restore_s=restore_s,
        direct_read_s=reading.quickest_s,
        direct_reads_s=reading.took_s,
        steps_before_s=before_s,
        steps_after_s=after_s,
        first_decided=[decided.get(2 * trip, []) for trip in range(NUM_TRIPS)],
        decided=[decided.get(2 * trip + 1, []) for trip in range(NUM_TRIPS)],
        prepare_told_s=[each.prepare_told_s for each in saved],
    )


def _save_twice(
    order: Order, training: Training, folder: Path, trip: int, writing: InTurn
) -> _Saved:
    """Save twice beside training, with a writer that is gone before as many bytes are written
    barely: one that saw that would think that others need the disk."""
    way = WAYS[order.way](training, folder)
    done_s = []
    for number in (2 * trip, 2 * trip + 1):
        rest(training, way, order.num_prepare_steps)
        save = time_save(training, way, number, FEWEST_STEPS, most_steps=None)
        done_s.append(save.durable_s)
    prepare_told_s = way.prepare_cost_s
    way.close()
    writing.once_more()
    first_s, next_s = done_s
    return _Saved(first_s, next_s, prepare_told_s)


def _restore(training: Training, folder: Path) -> float:
    with Saver(folder, model=training.model, optimizer=training.optimizer) as saver:
        training.settle()
        start_s = time.perf_counter()
        saver.restore()
        training.settle()
        return time.perf_counter() - start_s


def _steps_s(training: Training, folder: Path) -> list[float]:
    """What a step takes, by windows of a training that is warm."""
    nothing = NoSaving(training, folder)
    rest(training, nothing, NUM_WARM)
    return [fmean(rest(training, nothing, NUM_WARM)) for _ in range(NUM_WINDOWS)]
