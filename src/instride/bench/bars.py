"""What instride promises, held against a report."""

from __future__ import annotations

import msgspec

from instride.bench.names import NOTHING, NOTHING_AGAIN, OURS
from instride.bench.report import Report, Row

CALL_FACTOR, CALL_MORE_S = 1.3, 0.005
COST_FACTOR = 5.0
DURABLE_FACTOR = 1.3
MEMORY_FACTOR, MEMORY_MORE_BYTES = 1.0, 128 << 20
MOST_PLANNING_S = 0.002
MOST_BEAT_S = 5e-6
SYNCHRONOUS = "torch.save"
LEAST_STATE_BYTES = 10**9
"""With less, other things than copying and writing decide."""


class Bar(msgspec.Struct, frozen=True):
    """One promise: what was measured must not be above the limit."""

    what: str
    measured: float
    limit: float
    unit: str = "s"

    @property
    def is_kept(self) -> bool:
        return self.measured <= self.limit


def bars(report: Report) -> list[Bar]:
    """Every promise that the report can tell about; those of cost only if rivals were measured."""
    rows = {row.name: row for row in report.rows}
    ours = rows.get(OURS)
    if ours is None:
        return []
    floors = report.floors
    call_limit_s = CALL_FACTOR * floors.memcpy_s + CALL_MORE_S
    found = [
        Bar("call, by 1.3 x memcpy + 5 ms", ours.call_s, call_limit_s),
        Bar("first call, by the same", ours.first_call_s, call_limit_s),
        *_cost_bars(ours, rows),
        Bar("done, by 1.3 x direct write", ours.durable_s, DURABLE_FACTOR * floors.direct_write_s),
        Bar(
            "memory, by the state + 128 MiB",
            ours.peak_host_bytes,
            MEMORY_FACTOR * report.state_bytes + MEMORY_MORE_BYTES,
            "B",
        ),
    ]
    if report.planning_s is not None:
        found.append(Bar("planning 2,000 tensors", report.planning_s, MOST_PLANNING_S))
    if report.beat_s is not None:
        found.append(Bar("a beat", report.beat_s, MOST_BEAT_S))
    return found


def _cost_bars(ours: Row, rows: dict[str, Row]) -> list[Bar]:
    """Against what stops training, and against the best rival; a row that tears is none."""
    found = []
    noise_s = rows[NOTHING_AGAIN].cost_spread_s if NOTHING_AGAIN in rows else 0.0
    if SYNCHRONOUS in rows:
        limit_s = rows[SYNCHRONOUS].cost_s / COST_FACTOR + noise_s
        found.append(Bar("cost, by torch.save / 5 + noise", ours.cost_s, limit_s))
    rivals = [row for row in rows.values() if is_rival(row) and not row.torn]
    if rivals:
        best = min(rivals, key=lambda row: row.cost_s)
        found.append(Bar(f"cost, by {best.name} + noise", ours.cost_s, best.cost_s + noise_s))
    return found


def is_rival(row: Row) -> bool:
    return row.name not in (NOTHING, NOTHING_AGAIN, OURS)
