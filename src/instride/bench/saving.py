"""Runs the same training once per way of saving, and makes a report of what each of them costs.

Every run is a process of its own. Rounds go through the ways in turn, every other one backwards, so
that a machine that becomes slower or faster favours none of them. Ours goes first, because its
windows are the longest: those of the row that shows the noise are as long.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from statistics import median

import msgspec

from instride.bench.answers import Answers, answers_in
from instride.bench.asking import A, ChildFailedError
from instride.bench.conditions import Conditions
from instride.bench.inquiry import Inquiry
from instride.bench.machine import machine
from instride.bench.names import (
    MOST_STEPS_ON_A_GPU,
    NAMES,
    NOTHING,
    OURS,
    OURS_WITHOUT_ROOM,
    STEPS_THAT_PREPARE,
    TIMES_TO_PREPARE,
    saves_nothing,
)
from instride.bench.ordering import Request, order_for
from instride.bench.orders import (
    Hammered,
    Limits,
    Order,
    Prepared,
    SavedOften,
    Task,
    ThereAndBack,
    Timed,
    Upkeep,
)
from instride.bench.report import SCHEMA, LeftOut, Machine, Often, Report, RoundTrip, Row
from instride.bench.scratch import scratch_in
from instride.bench.summary import Gathered, middle_device_floors, middle_floors, summarise
from instride.errors import BenchFailedError, MissingLibraryError
from instride.system.cores import usable_cores

HAMMERED_AT_ONCE = 4
HAMMERED_AT_ONCE_ON_A_GPU = 8
"""Whether a way tears is seen beside others as well as alone; memory and time are not."""


def run(request: Request, on_progress: Callable[[str], None] = lambda text: None) -> Report:
    """Measure all that was asked for and was not measured before. Raises MissingLibraryError,
    BenchFailedError, CannotResumeError, UnwritableError."""
    if find_spec("torch") is None:
        raise MissingLibraryError("bench save", "torch")
    here = machine(request.folder, request.device)
    conditions = Conditions(
        SCHEMA, here, request.num_params, request.device, request.is_synced_loop
    )
    with (
        answers_in(request.resume, conditions) as answers,
        scratch_in(request.folder) as scratch,
    ):
        if answers:
            on_progress(f"{request.resume}: {len(answers)} answers are there")
        bench = _Bench(request, Path(scratch).absolute(), here, answers, on_progress)
        bench.hammer()
        for number in range(request.num_rounds):
            bench.time_all(number)
        return bench.report()


class _Bench:
    def __init__(
        self,
        request: Request,
        scratch: Path,
        here: Machine,
        answers: Answers,
        on_progress: Callable[[str], None],
    ) -> None:
        self._request = request
        self._scratch = scratch
        self._machine = here
        self._answers = answers
        # What the others are compared with is always measured.
        wanted = {NOTHING, *request.ways}
        self._on_progress = on_progress
        self._inquiry = Inquiry(wanted, answers, scratch, on_progress)
        names = wanted | answers.ways
        self._found = {name: Gathered() for name in NAMES if name in names}
        self._left_out: list[LeftOut] = []
        self._limits: list[Limits] = []

    def hammer(self) -> None:
        """Which ways are there, which of them tear, and how much memory they take."""
        most_at_once = HAMMERED_AT_ONCE_ON_A_GPU if self._is_on_gpu else HAMMERED_AT_ONCE
        # More than there are cores would import torch no sooner, and say later what is amiss.
        num_at_once = 1 if self._request.watches_memory else min(most_at_once, usable_cores())
        alone = [name for name in self._found if name == OURS_WITHOUT_ROOM]
        names = [name for name in self._found if name not in alone]
        with ThreadPoolExecutor(num_at_once) as pool:
            whys = [*pool.map(self._hammer, names), *map(self._hammer, alone)]
        for name, why in zip([*names, *alone], whys, strict=True):
            if why is not None:
                self._leave_out(name, why)

    def _hammer(self, name: str) -> str | None:
        """Look at one way; why nothing can be seen there, if so."""
        found = self._found[name]
        what = f"{name}: memory and torn snapshots"
        try:
            answer, found.peak_bytes = self._inquiry.ask(
                what, self._order(Task.HAMMER, name), Hammered
            )
        except ChildFailedError as error:
            return str(error)
        found.hammered = None if saves_nothing(name) else answer
        return None

    def time_all(self, number: int) -> None:
        names = list(self._found)
        for name in names if number % 2 else names[::-1]:
            what = f"{name}: round {number + 1} of {self._request.num_rounds}"
            try:
                answer, _ = self._inquiry.ask(what, self._order(Task.TIME, name), Timed, number)
            except ChildFailedError as error:
                self._leave_out(name, str(error))
                continue
            self._found[name].add(answer)
        order = msgspec.structs.replace(self._order(Task.FLOORS), num_bytes=self._state_bytes)
        try:
            self._limits.append(self._inquiry.ask("floors", order, Limits, number)[0])
        except ChildFailedError as error:
            raise BenchFailedError(str(error)) from error

    @property
    def _state_bytes(self) -> int:
        last = self._found[NOTHING].last
        assert last is not None
        return last.state_bytes

    @property
    def _is_on_gpu(self) -> bool:
        return self._request.device != "cpu"

    def _order(self, task: Task, way: str = "") -> Order:
        ours = [self._found[name] for name in (OURS, OURS_WITHOUT_ROOM) if name in self._found]
        saves = [save for found in ours for saves in found.rounds for save in saves]
        windows = [len(save.steps_s) for save in saves]
        return order_for(self._request, self._scratch, task, way, windows)

    def _leave_out(self, name: str, why: str) -> None:
        """Told at once: a command that is stopped comes to no report."""
        if name == NOTHING:
            raise BenchFailedError(why)
        self._left_out.append(LeftOut(name, why))
        self._on_progress(f"{name} is left out: {why}")
        self._found.pop(name, None)

    def report(self) -> Report:
        upkeep = None
        if OURS in self._found:
            order = self._order(Task.UPKEEP)
            upkeep = self._ask_or_do_without(f"{OURS}: upkeep", order, Upkeep)
        rows = [self._row(name, found) for name, found in self._found.items()]
        round_trip, often = self._round_trip(), self._often()
        nothing = self._found[NOTHING]
        return Report(
            SCHEMA,
            msgspec.structs.replace(self._machine, load=self._answers.load),
            self._state_bytes,
            median(save.base_s for saves in nothing.rounds for save in saves),
            rows,
            middle_floors(self._limits),
            self._left_out,
            upkeep.planning_s if upkeep else None,
            upkeep.beat_s if upkeep else None,
            device=self._request.device,
            is_synced_loop=self._request.is_synced_loop,
            device_floors=middle_device_floors(self._limits),
            forward_and_backward_s=median(nothing.passes_s) if nothing.passes_s else None,
            round_trip=round_trip,
            often=often,
            goes=self._answers.goes(),
        )

    def _row(self, name: str, found: Gathered) -> Row:
        peak_bytes = found.peak_bytes - self._found[NOTHING].peak_bytes
        return summarise(
            name,
            found.rounds,
            found.idle_durable_s,
            hammered=found.hammered,
            synced=found.last is not None and found.last.is_synced,
            peak_host_bytes=peak_bytes if self._request.watches_memory else None,
            prepared=self._prepared(name),
        )

    def _prepared(self, name: str) -> Prepared | None:
        if name not in STEPS_THAT_PREPARE or not self._is_on_gpu:
            return None
        order = msgspec.structs.replace(
            self._order(Task.PREPARE, name),
            num_saves=TIMES_TO_PREPARE[name],
            num_rest_steps=MOST_STEPS_ON_A_GPU,
            num_prepare_steps=STEPS_THAT_PREPARE[name],
        )
        return self._ask_or_do_without(f"{name}: preparing", order, Prepared)

    def _round_trip(self) -> RoundTrip | None:
        found = self._ask_of_ours("there and back", Task.ROUND_TRIP, ThereAndBack)
        return found.round_trip if found else None

    def _often(self) -> Often | None:
        found = self._ask_of_ours("a save every ten steps", Task.OFTEN, SavedOften)
        return found.often if found else None

    def _ask_of_ours(self, what: str, task: Task, kind: type[A]) -> A | None:
        """What is only measured of us, and on a GPU."""
        if OURS not in self._found or not self._is_on_gpu:
            return None
        return self._ask_or_do_without(f"{OURS}: {what}", self._order(task, OURS), kind)

    def _ask_or_do_without(self, what: str, order: Order, kind: type[A]) -> A | None:
        """At the end of half an hour, what was measured is not given up for the rest."""
        try:
            return self._inquiry.ask(what, order, kind)[0]
        except ChildFailedError as error:
            self._leave_out(what, str(error))
            return None
