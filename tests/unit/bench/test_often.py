"""A training that saves every ten steps, in turn with stretches in which it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from instride.bench.names import OURS, STEPS_BETWEEN_SAVES  # noqa: E402 - needs torch
from instride.bench.often import NUM_STRETCHES, STEPS_A_STRETCH, save_often  # noqa: E402
from instride.bench.orders import Order, Task  # noqa: E402
from instride.bench.training import Training  # noqa: E402
from instride.bench.ways.ours import InstrideOften  # noqa: E402

pytestmark = pytest.mark.torch
NUM_ASKED = NUM_STRETCHES * STEPS_A_STRETCH // STEPS_BETWEEN_SAVES


@pytest.mark.filterwarnings("ignore:.*was skipped")
def test_every_save_is_taken_or_counted_as_skipped(tmp_path: Path) -> None:
    order = Order(Task.OFTEN, str(tmp_path), OURS, num_params=1_000_000)
    often = save_often(order, tmp_path)
    assert len(often.shares) == NUM_STRETCHES
    assert often.num_saved + often.num_skipped == NUM_ASKED
    assert often.num_saved >= NUM_STRETCHES  # the first of each finds nothing under way


def test_what_the_calls_take_is_what_it_costs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps of one second, and calls of a tenth: one in a hundred, however long saves go on."""

    class Instantly:
        is_skipped = False

        def is_done(self) -> bool:
            return True

        def is_over(self) -> bool:
            return True

        def wait(self) -> None:
            return

    clock = [0.0]

    def save(way: InstrideOften, step: int) -> Instantly:
        clock[0] += 0.1
        return Instantly()

    monkeypatch.setattr(InstrideOften, "save", save)
    monkeypatch.setattr(Training, "step", lambda training, guard: 1.0)
    monkeypatch.setattr("instride.bench.often.time.perf_counter", lambda: clock[0])
    often = save_often(Order(Task.OFTEN, str(tmp_path), OURS, num_params=1000), tmp_path)
    assert often.shares == pytest.approx([0.01] * NUM_STRETCHES)
    assert (often.num_saved, often.num_skipped) == (NUM_ASKED, 0)
