"""To the disk and back, in turn with bare writing and reading."""

from __future__ import annotations

from pathlib import Path
from statistics import median

import pytest

torch = pytest.importorskip("torch")

from instride.bench.floors import NUMS_OF_THREADS  # noqa: E402 - needs torch
from instride.bench.names import OURS  # noqa: E402
from instride.bench.orders import Order, Task  # noqa: E402
from instride.bench.round_trip import NUM_TRIPS, NUM_WINDOWS, go_round  # noqa: E402

pytestmark = pytest.mark.torch


def test_each_save_and_each_restore_has_its_floor_beside_it(tmp_path: Path) -> None:
    order = Order(Task.ROUND_TRIP, str(tmp_path), OURS, num_params=1_000_000)
    trip = go_round(order, tmp_path)
    assert len(trip.first_done_s) == len(trip.done_s) == len(trip.restore_s) == NUM_TRIPS
    for bare_s, by_threads in (
        (trip.direct_write_s, trip.direct_writes_s),
        (trip.direct_read_s, trip.direct_reads_s),
    ):
        assert list(by_threads) == list(NUMS_OF_THREADS)
        assert all(len(each) == NUM_TRIPS for each in by_threads.values())
        assert bare_s == min(by_threads.values(), key=median)
    assert not list(tmp_path.glob("bench-*"))
    assert len(trip.prepare_told_s) == NUM_TRIPS
    assert len(trip.steps_before_s) == NUM_WINDOWS
    assert len(trip.steps_after_s) == NUM_TRIPS * NUM_WINDOWS
    for decided, done_s in ((trip.first_decided, trip.first_done_s), (trip.decided, trip.done_s)):
        assert len(decided) == NUM_TRIPS
        for decisions, took_s in zip(decided, done_s, strict=True):
            assert decisions
            # The one clock is of the training, the other of the writer.
            assert all(0.0 <= each.after_s < took_s + 0.1 for each in decisions)
            assert all(each.threads and each.duty and each.reason for each in decisions)
