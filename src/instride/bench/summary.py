"""From single saves to a row of the table."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median, quantiles

from instride.bench.orders import Hammered, Limits, Prepared, Save, Timed
from instride.bench.report import DeviceFloors, Floors, Row

NUM_TRACED_BEFORE = 10


class Gathered:
    """What the runs of one way came to."""

    def __init__(self) -> None:
        self.rounds: list[list[Save]] = []
        self.idle_durable_s: list[float] = []
        self.passes_s: list[float] = []
        self.last: Timed | None = None
        self.hammered: Hammered | None = None
        self.peak_bytes = 0

    def add(self, answer: Timed) -> None:
        self.rounds.append(answer.saves)
        self.idle_durable_s += answer.idle_durable_s
        self.passes_s += answer.passes_s
        self.last = answer


def summarise(
    name: str,
    rounds: Sequence[Sequence[Save]],
    idle_durable_s: Sequence[float],
    *,
    hammered: Hammered | None,
    synced: bool,
    peak_host_bytes: int | None,
    prepared: Prepared | None = None,
) -> Row:
    """The row of one way, from the saves of each of its processes."""
    saves = [save for round in rounds for save in round]
    first = [round[0] for round in rounds]
    later = [save for round in rounds for save in round[1:] or round]
    inflations = [step_s / save.base_s for save in saves for step_s in save.steps_s]
    # The first step has the call in front of it, and what an optimizer waits for in it.
    behind = [step_s / save.base_s - 1 for save in saves for step_s in save.steps_s[1:]]
    around = [step_s / save.base_s - 1 for save in saves for step_s in save.base_steps_s]
    return Row(
        name=name,
        torn=hammered.is_torn if hammered else None,
        num_hammered=hammered.num_blows if hammered else 0,
        num_whole=hammered.num_whole if hammered else 0,
        synced=synced,
        num_saves=len(saves),
        call_s=median(save.call_s for save in saves),
        first_call_s=median(save.call_s for save in first),
        cost_s=median(save.cost_s for save in saves),
        cost_spread_s=_spread([save.cost_s for save in saves]),
        first_cost_s=median(save.cost_s for save in first),
        later_cost_s=median(save.cost_s for save in later),
        durable_s=median(idle_durable_s or [save.durable_s for save in saves]),
        durable_beside_s=median(save.durable_s for save in saves),
        first_durable_s=median(save.durable_s for save in first),
        worst_step_s=median(max(save.steps_s) for save in saves),
        p50_inflation=median(inflations),
        p99_inflation=_p99(inflations),
        p99_later=_p99(behind),
        max_later=max(behind),
        p99_around=_p99(around),
        peak_host_bytes=peak_host_bytes,
        first_early_cost_s=median(save.early_cost_s for save in first),
        early_cost_s=median(save.early_cost_s for save in later),
        early_cost_spread_s=_spread([save.early_cost_s for save in saves]),
        prepare_cost_s=max(prepared.costs_s) if prepared else None,
        prepare_told_s=max(prepared.told_s) if prepared else None,
        making_s=max(prepared.making_s) if prepared else None,
        trace_s=_trace(saves[-1]),
    )


def _p99(values: Sequence[float]) -> float:
    return quantiles(values, n=100, method="inclusive")[-1]


def _trace(save: Save) -> list[float]:
    """Steps before a save and behind it, as a watch on the wall would show them."""
    first, *others = save.steps_s
    return [*save.base_steps_s[:NUM_TRACED_BEFORE], save.call_s + first, *others]


def _spread(values: Sequence[float]) -> float:
    """Between the quartiles: one save that was disturbed must not stand for all."""
    first, _, third = quantiles(values, n=4, method="inclusive")
    return third - first


def middle_floors(limits: Sequence[Limits]) -> Floors:
    """The median of each, over all rounds."""
    floors = [each.floors for each in limits]
    writing_s = [each.direct_write_s for each in floors if each.direct_write_s]
    return Floors(
        median(each.memcpy_s for each in floors), median(writing_s) if writing_s else None
    )


def middle_device_floors(limits: Sequence[Limits]) -> DeviceFloors | None:
    floors = [each.device_floors for each in limits if each.device_floors is not None]
    if not floors:
        return None
    return DeviceFloors(
        median(each.copy_s for each in floors), median(each.bus_s for each in floors)
    )
