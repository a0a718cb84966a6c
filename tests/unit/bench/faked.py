"""Children of `bench save` that answer at once, and always the same."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest

from instride.bench import inquiry, saving
from instride.bench.asking import ChildFailedError
from instride.bench.orders import (
    Hammered,
    Limits,
    Order,
    Prepared,
    Save,
    SavedOften,
    Task,
    ThereAndBack,
    Timed,
    Upkeep,
)
from instride.bench.report import Decided, DeviceFloors, Floors, Machine, Often, RoundTrip

MACHINE = Machine(16, "a processor", 1 << 37, "ext4", "Linux 6", "3.12", "2.11", 0.1, "a GPU")
SAVE = Save(0.005, 1.515, 8.0, [0.15] * 10, [0.15] * 40)
TRIP = RoundTrip(
    [8.3], [8.2], [7.5], {}, [4.7, 4.8], [4.6, 4.5], {}, [0.15] * 3, [0.151] * 9,
    [[Decided(0.08, 1, 32e6, 0.5, "unknown-yet"), Decided(1.2, 8, None, 0.93, "plenty")]],
    [[Decided(0.0, 8, None, 0.93, "plenty")]], [0.005],
)  # fmt: skip
ANSWERS = {
    Task.TIME: Timed(15 * 10**9, [SAVE] * 4, [], True, [0.2, 0.14, 0.14]),
    Task.PREPARE: Prepared([0.03, 0.05, 0.04], [0.01], [0.4]),
    Task.HAMMER: Hammered(5, 5),
    Task.FLOORS: Limits(Floors(0.4, None), DeviceFloors(0.007, 0.29)),
    Task.UPKEEP: Upkeep(0.001, 1e-6),
    Task.OFTEN: SavedOften(Often([0.004, 0.007, 0.006], 17, 1, [0.002], [-0.001, 0.002])),
    Task.ROUND_TRIP: ThereAndBack(TRIP),
}


class Faked:
    """Stands in for all processes, and for the machine."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked: list[tuple[Task, str]] = []
        self.failing: Collection[Task | str] = ()
        """Tasks, and ways."""
        self.stopped_after: int | None = None
        """How many children answer before somebody presses Ctrl-C."""
        self.machine = MACHINE
        monkeypatch.setattr(inquiry, "ask", self._answer)
        monkeypatch.setattr(saving, "machine", lambda folder, device: self.machine)

    def _answer(self, order: Order, kind: type[Any]) -> tuple[Any, int]:
        if len(self.asked) == self.stopped_after:
            raise KeyboardInterrupt
        self.asked.append((order.task, order.way))
        if order.task in self.failing or order.way in self.failing:
            raise ChildFailedError("out of memory")
        found = ANSWERS[order.task]
        assert isinstance(found, kind)
        return found, 0
