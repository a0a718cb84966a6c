"""What instride promises, held against a report."""

from __future__ import annotations

from instride.bench.bars import Bar, Unit
from instride.bench.interference.names import IDLE, NAIVE, NOTHING, NOTHING_AGAIN, OURS, Scenario
from instride.bench.interference.report import Report, Row
from instride.governor.model import BUDGET

MARGIN = 0.03
MOST_BYTES = 256 << 20
HURTS = 1.15
"""A scenario in which the naive way costs less than this shows nothing."""


def bars(report: Report) -> list[Bar]:
    """Every promise that the report can tell about."""
    rows = {row.name: row for row in report.rows}
    ours = rows.get(OURS)
    if ours is None:
        return []
    limit = most_inflation(report)
    budget = "" if report.scenario is Scenario.CPU else ", the budget"
    what = f"median inflation, by the noise{budget} + {100 * MARGIN:.0f} %"
    return [
        Bar(what, ours.median_inflation, limit, Unit.TIMES),
        Bar("mean inflation, by the same", ours.mean_inflation, limit, Unit.TIMES),
        Bar("memory of the agent, by 256 MiB", ours.peak_bytes, MOST_BYTES, Unit.BYTES),
    ]


def most_inflation(report: Report) -> float:
    """What a training may feel: the budget, where the lowest class alone could not protect it."""
    allowed = 0.0 if report.scenario is Scenario.CPU else BUDGET
    return 1 + allowed + noise({row.name: row for row in report.rows}) + MARGIN


def noise(rows: dict[str, Row]) -> float:
    """What rows without a rival spread by."""
    return max((rows[name].spread for name in (NOTHING, NOTHING_AGAIN) if name in rows), default=0)


def hurts(report: Report) -> bool:
    """Whether there is anything to protect a training from."""
    naive = _inflation_of(NAIVE, report)
    return naive is None or naive >= HURTS


def idle_suffices(report: Report) -> bool:
    """Whether the lowest class of the scheduler alone keeps what instride promises; noise is no
    excuse for what nobody promised."""
    idle = _inflation_of(IDLE, report)
    return idle is not None and idle <= 1 + BUDGET + MARGIN


def _inflation_of(name: str, report: Report) -> float | None:
    """The worse of the two that are promised."""
    for row in report.rows:
        if row.name == name:
            return max(row.median_inflation, row.mean_inflation)
    return None
