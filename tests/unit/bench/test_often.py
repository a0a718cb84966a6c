"""A training that saves every ten steps, in turn with stretches in which it does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from instride.bench.names import OURS, STEPS_BETWEEN_SAVES  # noqa: E402 - needs torch
from instride.bench.often import NUM_STRETCHES, STEPS_A_STRETCH, save_often  # noqa: E402
from instride.bench.orders import Order, Task  # noqa: E402
from instride.bench.training import Training  # noqa: E402
from instride.bench.ways.ours import InstrideOften  # noqa: E402

pytestmark = pytest.mark.torch
NUM_A_STRETCH = STEPS_A_STRETCH // STEPS_BETWEEN_SAVES
ORDER = Order(Task.OFTEN, "", OURS, num_params=1000)


@pytest.mark.filterwarnings("ignore:.*was skipped")
def test_every_save_is_taken_or_counted_as_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("instride.bench.often.NUM_STRETCHES", 2)
    monkeypatch.setattr("instride.bench.often.STEPS_A_STRETCH", 20)
    often = save_often(ORDER, tmp_path)
    assert len(often.shares) == 2
    assert often.num_saved + often.num_skipped == 4
    assert often.num_saved >= 2  # the first of each finds nothing under way


class Faked:
    """Steps of one second, calls of a tenth, and saves that go on for so many steps."""

    def __init__(self, lasts: int, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_s = 0.0
        self._lasts = lasts
        self._free_from_s = 0.0
        monkeypatch.setattr(InstrideOften, "save", lambda way, step: self.save())
        monkeypatch.setattr(Training, "step", lambda training, guard: self.step())
        monkeypatch.setattr("instride.bench.often.time.perf_counter", lambda: self.now_s)

    def step(self) -> float:
        self.now_s += 1.0
        return 1.0

    def save(self) -> Any:
        is_skipped = self.now_s < self._free_from_s
        self.now_s += 0.02 if is_skipped else 0.1
        if not is_skipped:
            self._free_from_s = self.now_s + self._lasts
        return Ticket(self, self._free_from_s, is_skipped)


class Ticket:
    def __init__(self, faked: Faked, over_s: float, is_skipped: bool) -> None:
        self._faked, self._over_s, self.is_skipped = faked, over_s, is_skipped

    def is_done(self) -> bool:
        return self._faked.now_s >= self._over_s

    is_over = is_done

    def wait(self) -> None:
        assert self.is_done()


@pytest.mark.parametrize(("lasts", "num_taken"), [(0, NUM_A_STRETCH), (15, 3), (80, 1), (600, 1)])
def test_what_the_calls_take_is_what_it_costs_however_long_saves_go_on(
    lasts: int, num_taken: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tenth of a second is one in a hundred of ten steps of one."""
    Faked(lasts, monkeypatch)
    often = save_often(ORDER, tmp_path)
    assert often.shares == pytest.approx([0.01] * NUM_STRETCHES)
    assert often.num_saved == NUM_STRETCHES * num_taken
    assert often.num_skipped == NUM_STRETCHES * (NUM_A_STRETCH - num_taken)
    assert often.skipped_call_s == pytest.approx([0.02] * often.num_skipped)
    assert often.noise == pytest.approx([0.0] * (NUM_STRETCHES - 1))


def test_a_save_that_failed_is_not_counted_as_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(ticket: Ticket) -> None:
        raise OSError(28, "No space left on device")

    Faked(0, monkeypatch)
    monkeypatch.setattr(Ticket, "wait", fail)
    with pytest.raises(OSError, match="No space left"):
        save_often(ORDER, tmp_path)
