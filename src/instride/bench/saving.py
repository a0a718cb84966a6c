"""Runs the same training once per way of saving, and makes a report of what each of them costs.

Every run is a process of its own. Rounds go through the ways in turn, every other one backwards, so
that a machine that becomes slower or faster favours none of them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import median

import msgspec

from instride.bench.asking import A, ChildFailedError, ask
from instride.bench.machine import machine
from instride.bench.names import (
    DEFAULT_PARAMS,
    DEFAULT_ROUNDS,
    FEWEST_STEPS,
    FEWEST_STEPS_OF_NOTHING,
    NOTHING,
    OURS,
    SAVES_A_ROUND,
    saves_nothing,
)
from instride.bench.orders import Hammered, Limits, Order, Save, Task, Timed, Upkeep
from instride.bench.report import SCHEMA, Floors, LeftOut, Report
from instride.bench.summary import summarise
from instride.errors import BenchFailedError, MissingLibraryError


class Request(msgspec.Struct, frozen=True):
    ways: Sequence[str]
    num_params: int = DEFAULT_PARAMS
    num_rounds: int = DEFAULT_ROUNDS
    device: str = "cpu"
    folder: str = "."


class _Gathered:
    """What the runs of one way came to."""

    def __init__(self) -> None:
        self.rounds: list[list[Save]] = []
        self.idle_durable_s: list[float] = []
        self.last: Timed | None = None
        self.is_torn = False
        self.peak_bytes = 0


def run(request: Request, on_progress: Callable[[str], None] = lambda text: None) -> Report:
    """Measure all that was asked for. Raises MissingLibraryError, BenchFailedError."""
    if find_spec("torch") is None:
        raise MissingLibraryError("bench save", "torch")
    with tempfile.TemporaryDirectory(dir=request.folder, prefix="instride-bench-") as scratch:
        bench = _Bench(request, Path(scratch).absolute(), on_progress)
        bench.hammer()
        for number in range(request.num_rounds):
            bench.time_all(number)
        return bench.report()


class _Bench:
    def __init__(self, request: Request, scratch: Path, on_progress: Callable[[str], None]) -> None:
        self._request = request
        self._scratch = scratch
        self._on_progress = on_progress
        # What the others are compared with is always measured.
        ways = list(dict.fromkeys([NOTHING, *request.ways]))
        self._found = {name: _Gathered() for name in ways}
        self._left_out: list[LeftOut] = []
        self._limits: list[Floors] = []
        self._machine = machine(request.folder)

    def hammer(self) -> None:
        """Which ways are there, which of them tear, and how much memory they take."""
        for name in list(self._found):
            self._on_progress(f"{name}: memory and torn snapshots")
            try:
                answer, peak_bytes = ask(self._order(Task.HAMMER, name), Hammered)
            except ChildFailedError as error:
                self._leave_out(name, str(error))
                continue
            self._found[name].is_torn = answer.is_torn
            self._found[name].peak_bytes = peak_bytes

    def time_all(self, number: int) -> None:
        names = list(self._found)
        for name in names if number % 2 == 0 else names[::-1]:
            self._on_progress(f"{name}: round {number + 1} of {self._request.num_rounds}")
            try:
                answer, _ = ask(self._order(Task.TIME, name), Timed)
            except ChildFailedError as error:
                self._leave_out(name, str(error))
                continue
            self._found[name].rounds.append(answer.saves)
            self._found[name].idle_durable_s += answer.idle_durable_s
            self._found[name].last = answer
        self._on_progress("floors")
        order = msgspec.structs.replace(self._order(Task.FLOORS), num_bytes=self._state_bytes)
        self._limits.append(self._ask_or_end(order, Limits).floors)

    @property
    def _state_bytes(self) -> int:
        last = self._found[NOTHING].last
        assert last is not None
        return last.state_bytes

    def _order(self, task: Task, way: str = "") -> Order:
        return Order(
            task=task,
            folder=str(self._scratch),
            way=way,
            num_params=self._request.num_params,
            num_saves=SAVES_A_ROUND,
            num_rest_steps=FEWEST_STEPS_OF_NOTHING if saves_nothing(way) else FEWEST_STEPS,
            device=self._request.device,
        )

    def _leave_out(self, name: str, why: str) -> None:
        if name == NOTHING:
            raise BenchFailedError(why)
        del self._found[name]
        self._left_out.append(LeftOut(name, why))

    def _ask_or_end(self, order: Order, kind: type[A]) -> A:
        try:
            return ask(order, kind)[0]
        except ChildFailedError as error:
            raise BenchFailedError(str(error)) from error

    def report(self) -> Report:
        upkeep = None
        if OURS in self._found:
            upkeep = self._ask_or_end(self._order(Task.UPKEEP), Upkeep)
        nothing = self._found[NOTHING]
        return Report(
            SCHEMA,
            self._machine,
            self._state_bytes,
            median(save.base_s for saves in nothing.rounds for save in saves),
            [
                summarise(
                    name,
                    found.rounds,
                    found.idle_durable_s,
                    torn=found.is_torn,
                    synced=found.last is not None and found.last.is_synced,
                    peak_host_bytes=found.peak_bytes - nothing.peak_bytes,
                )
                for name, found in self._found.items()
            ],
            Floors(
                median(each.memcpy_s for each in self._limits),
                median(each.direct_write_s for each in self._limits),
            ),
            self._left_out,
            upkeep.planning_s if upkeep else None,
            upkeep.beat_s if upkeep else None,
        )
