"""One training with one way of saving, in a process of its own: `python -m instride.bench.child`.

Reads what to do as JSON from the arguments, prints what it measured as JSON.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from pathlib import Path
from statistics import median

import msgspec

from instride.bench.training import Training
from instride.bench.ways import WAYS, Ticket, Way

NUM_WARM = 12
NUM_BEFORE = 5
NUM_AFTER = 5
MOST_AFTER = 60
WATCH_S = 0.002
NUM_BLOWS = 4


class Order(msgspec.Struct, frozen=True):
    way: str
    num_params: int
    num_saves: int
    folder: str
    device: str = "cpu"


class Save(msgspec.Struct, frozen=True):
    call_s: float
    cost_s: float
    durable_s: float
    steps_s: list[float]
    base_s: float


class Measured(msgspec.Struct, frozen=True):
    state_bytes: int
    saves: list[Save]
    is_torn: bool
    error: str | None = None


def measure(order: Order) -> Measured:
    """Train, save, and look at what the steps around each save took."""
    with tempfile.TemporaryDirectory(dir=order.folder, prefix="bench-") as folder:
        training = Training(order.num_params, order.device)
        way = WAYS[order.way](training, Path(folder))
        for _ in range(NUM_WARM):
            training.step(way.guard())
        saves = [measure_save(training, way, 10 + number) for number in range(order.num_saves)]
        way.close()
    return Measured(training.state_bytes, saves, is_torn(order))


def measure_save(training: Training, way: Way, step: int) -> Save:
    base_s = median(training.step(way.guard()) for _ in range(NUM_BEFORE))
    start_s = time.perf_counter()
    ticket = way.save(step)
    call_s = time.perf_counter() - start_s
    watch = Watch(ticket, start_s)
    steps_s: list[float] = []
    while len(steps_s) < NUM_AFTER or (not watch.is_done and len(steps_s) < MOST_AFTER):
        steps_s.append(training.step(way.guard()))
    cost_s = time.perf_counter() - start_s - len(steps_s) * base_s
    ticket.wait()
    return Save(call_s, cost_s, watch.durable_s(), steps_s, base_s)


class Watch:
    """Notes when a save was done, at a few milliseconds."""

    def __init__(self, ticket: Ticket, start_s: float) -> None:
        self._ticket = ticket
        self._start_s = start_s
        self._end_s: float | None = None
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def _look(self) -> None:
        while not self._ticket.is_done():
            time.sleep(WATCH_S)
        self._end_s = time.perf_counter()

    @property
    def is_done(self) -> bool:
        return self._end_s is not None

    def durable_s(self) -> float:
        self._thread.join()
        assert self._end_s is not None
        return self._end_s - self._start_s


def is_torn(order: Order) -> bool:
    """Overwrite everything the moment `save()` returns, and see whether the file shows it."""
    with tempfile.TemporaryDirectory(dir=order.folder, prefix="bench-") as folder:
        training = Training(min(order.num_params, 8 << 20), order.device)
        way = WAYS[order.way](training, Path(folder))
        training.step(way.guard())
        torn = False
        for blow in range(1, NUM_BLOWS + 1):
            with way.guard():
                training.fill(float(blow))
            ticket = way.save(blow)
            with way.guard():
                training.fill(-1.0)
            ticket.wait()
            torn |= any(bool((tensor != blow).any()) for tensor in way.load(blow))
        way.close()
        return torn


if __name__ == "__main__":
    asked = msgspec.json.decode(sys.argv[1], type=Order)
    try:
        answer = measure(asked)
    except ImportError as error:
        answer = Measured(0, [], False, error=f"not installed ({error.name})")
    sys.stdout.buffer.write(b"\n" + msgspec.json.encode(answer) + b"\n")
