"""A training that saves every ten steps: what that costs in all, however it is spread."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

from instride.bench.names import FEWEST_STEPS, STEPS_BETWEEN_SAVES
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
    # The first one has a promise of its own; nothing of it may go on in what follows.
    time_save(training, way, 0, FEWEST_STEPS, most_steps=None)
    rests_s = [rest(training, way, STEPS_A_STRETCH)]
    shares = []
    asked = _Asked(way)
    for _ in range(NUM_STRETCHES):
        num_before = len(asked.taken)
        steps_s = _train(training, way, asked)
        rests_s.append(rest(training, way, STEPS_A_STRETCH))
        num_taken = len(asked.taken) - num_before
        shares.append(_beyond(steps_s, *rests_s[-2:]) / num_taken)
    way.close()
    noise = [_beyond(here_s, *around_s) for here_s, *around_s in _between(rests_s)]
    return Often(shares, len(asked.taken), asked.num_skipped, asked.skipped_call_s, noise)


def _beyond(steps_s: list[float], before_s: list[float], after_s: list[float]) -> float:
    """What steps took beyond those before and behind them, as a part of the steps between two
    saves."""
    base_s = fmean(before_s + after_s)
    return (sum(steps_s) - len(steps_s) * base_s) / (STEPS_BETWEEN_SAVES * base_s)


def _between(rests_s: list[list[float]]) -> Iterator[tuple[list[float], list[float], list[float]]]:
    """Each stretch that has others of its kind on both sides, and these."""
    for before_s, here_s, after_s in zip(rests_s, rests_s[1:], rests_s[2:], strict=False):
        yield here_s, before_s, after_s


def _train(training: Training, way: InstrideOften, asked: _Asked) -> list[float]:
    """What each step took, with the call before it; some more of them until nothing goes on of the
    last save, so that all of that is paid here, however long it takes. Raises why a save failed."""
    steps_s: list[float] = []
    while len(steps_s) < STEPS_A_STRETCH or asked.goes_on():
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
        self.skipped_call_s: list[float] = []

    @property
    def num_skipped(self) -> int:
        return len(self.skipped_call_s)

    def once_more(self) -> float:
        """Ask for one; the seconds that took, if it was taken."""
        start_s = time.perf_counter()
        ticket = self._way.save(len(self.taken) + self.num_skipped + 1)
        call_s = time.perf_counter() - start_s
        if ticket.is_skipped:
            self.skipped_call_s.append(call_s)
            return 0.0
        self.taken.append(ticket)
        return call_s

    def goes_on(self) -> bool:
        return not self.taken[-1].is_over()
