"""A training that saves every ten steps: what that costs in all, however it is spread."""

from __future__ import annotations

import time
from pathlib import Path
from statistics import fmean

from instride.bench.names import FEWEST_STEPS, MOST_STEPS, STEPS_BETWEEN_SAVES
from instride.bench.orders import Order
from instride.bench.report import Often
from instride.bench.timing import NUM_WARM, make_training, rest, time_save
from instride.bench.training import Training
from instride.bench.ways.ours import InstrideOften, OurTicket

NUM_STRETCHES = 3
STEPS_A_STRETCH = 60


def save_often(order: Order, folder: Path) -> Often:
    training = make_training(order)
    way = InstrideOften(training, folder)
    rest(training, way, NUM_WARM + order.num_prepare_steps)
    time_save(training, way, 0, FEWEST_STEPS)  # the first one has a promise of its own
    before_s = rest(training, way, STEPS_A_STRETCH)
    shares = []
    stretch = _Stretch(training, way)
    for _ in range(NUM_STRETCHES):
        steps_s = stretch.train()
        after_s = rest(training, way, STEPS_A_STRETCH)
        shares.append(fmean(steps_s) / fmean(before_s + after_s) - 1)
        before_s = after_s
    way.close()
    return Often(shares, stretch.num_saved, stretch.num_skipped)


class _Stretch:
    """Steps with saves among them."""

    def __init__(self, training: Training, way: InstrideOften) -> None:
        self._training = training
        self._way = way
        self._last: OurTicket | None = None
        self.num_saved = 0
        self.num_skipped = 0

    def train(self) -> list[float]:
        """What each step took, with the call before it; some more of them until nothing goes on of
        the last save, so that all of that is paid here."""
        steps_s: list[float] = []
        while len(steps_s) < STEPS_A_STRETCH or (self._goes_on() and len(steps_s) < MOST_STEPS):
            is_due = len(steps_s) < STEPS_A_STRETCH and len(steps_s) % STEPS_BETWEEN_SAVES == 0
            call_s = self._save() if is_due else 0.0
            steps_s.append(call_s + self._training.step(self._way.guard()))
        steps_s[-1] += self._training.settle()
        return steps_s

    def _save(self) -> float:
        start_s = time.perf_counter()
        ticket = self._way.save(self.num_saved + self.num_skipped + 1)
        call_s = time.perf_counter() - start_s
        if ticket.is_skipped:
            self.num_skipped += 1
        else:
            self.num_saved += 1
            self._last = ticket
        return call_s

    def _goes_on(self) -> bool:
        return self._last is not None and not self._last.is_over()
