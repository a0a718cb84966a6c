"""What instride promises, held against a report."""

from __future__ import annotations

from instride.bench.bars import Bar
from instride.bench.interference.names import NAIVE, NOTHING, NOTHING_AGAIN, OURS, Scenario
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
    allowed = BUDGET if report.scenario is not Scenario.CPU else 0.0
    limit = 1 + allowed + noise(rows) + MARGIN
    return [
        Bar("median inflation, by the noise + 3 %", ours.median_inflation, limit, "x"),
        Bar("mean inflation, by the same", ours.mean_inflation, limit, "x"),
        Bar("memory of the agent, by 256 MiB", ours.peak_bytes, MOST_BYTES, "B"),
    ]


def noise(rows: dict[str, Row]) -> float:
    """What rows without a rival spread by."""
    return max((rows[name].spread for name in (NOTHING, NOTHING_AGAIN) if name in rows), default=0)


def hurts(report: Report) -> bool:
    """Whether there is anything to protect a training from."""
    naive = [row for row in report.rows if row.name == NAIVE]
    return not naive or naive[0].median_inflation >= HURTS
