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
    asked = _Asked(way)
    for _ in range(NUM_STRETCHES):
        num_before = len(asked.taken)
        steps_s = _train(training, way, asked)
        after_s = rest(training, way, STEPS_A_STRETCH)
        base_s = fmean(before_s + after_s)
        num_taken = len(asked.taken) - num_before
        cost_s = sum(steps_s) - len(steps_s) * base_s
        shares.append(cost_s / (num_taken * STEPS_BETWEEN_SAVES * base_s))
        before_s = after_s
    way.close()
    return Often(shares, len(asked.taken), asked.num_skipped)


def _train(training: Training, way: InstrideOften, asked: _Asked) -> list[float]:
    """What each step took, with the call before it; some more of them until nothing goes on of the
    last save, so that all of that is paid here. Raises why a save failed."""
    steps_s: list[float] = []
    while len(steps_s) < STEPS_A_STRETCH or (asked.goes_on() and len(steps_s) < MOST_STEPS):
        is_due = len(steps_s) < STEPS_A_STRETCH and len(steps_s) % STEPS_BETWEEN_SAVES == 0
        call_s = asked.once_more() if is_due else 0.0
        steps_s.append(call_s + training.step(way.guard()))
    steps_s[-1] += training.settle()
    for ticket in asked.taken:
        ticket.wait()
    return steps_s


class _Asked:
    """The saves that were asked for, whether they were taken or not."""

    def __init__(self, way: InstrideOften) -> None:
        self._way = way
        self.taken: list[OurTicket] = []
        self.num_skipped = 0

    def once_more(self) -> float:
        """Ask for one; the seconds that took."""
        start_s = time.perf_counter()
        ticket = self._way.save(len(self.taken) + self.num_skipped + 1)
        call_s = time.perf_counter() - start_s
        if ticket.is_skipped:
            self.num_skipped += 1
        else:
            self.taken.append(ticket)
        return call_s

    def goes_on(self) -> bool:
        return not self.taken[-1].is_over()
