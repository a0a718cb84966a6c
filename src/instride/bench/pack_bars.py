"""What packing promises, held against what was measured."""

from __future__ import annotations

from collections.abc import Iterator

from instride.bench.bars import Bar, Unit
from instride.bench.packing import MOSTLY_FROZEN, OURS, OURS_DELTA, PLAIN_ZSTD, Bench, Row

RATIOS = {
    ("fp32", OURS): 0.845,
    ("adam", OURS): 0.83,
    ("bf16", OURS): 0.69,
    ("fp32", OURS_DELTA): 0.72,
    ("bf16", OURS_DELTA): 0.40,
    ("frozen", OURS_DELTA): 0.06,
}
CLOSE_RIVAL, CLOSE_FACTOR = "zipnn", 1.03
"""The one that may be better, by so much."""
SPEEDS = {"fp32": 0.9, "bf16": 0.55}
"""Of plain zstd."""
MOST_BYTES = 256 * 10**6


def pack_bars(bench: Bench) -> list[Bar]:
    """Every promise that can be told about."""
    rows = {(row.data, row.name): row for row in bench.rows if row.error is None}
    found = [
        Bar(f"{data}, {name}: ratio", rows[data, name].ratio, limit, Unit.SHARE)
        for (data, name), limit in RATIOS.items()
        if (data, name) in rows
    ]
    for data in dict.fromkeys(row.data for row in bench.rows if row.data not in MOSTLY_FROZEN):
        found += _against_rivals(data, rows)
    for data, least in SPEEDS.items():
        found += _against_zstd(data, least, rows)
    peaks = [row.peak_bytes for row in rows.values() if row.name in (OURS, OURS_DELTA)]
    return [*found, Bar("memory", max(peaks), MOST_BYTES, Unit.BYTES)] if peaks else found


def _against_rivals(data: str, rows: dict[tuple[str, str], Row]) -> Iterator[Bar]:
    ours = rows.get((data, OURS))
    rivals = [row for row in rows.values() if row.data == data and not _is_ours(row)]
    if ours is None or not rivals:
        return
    best = min(rivals, key=lambda row: row.ratio * _allowance(row))
    what = f"{data}: ratio, by that of {best.name}"
    allowance = _allowance(best)
    what += f" x {allowance}" if allowance != 1 else ""
    yield Bar(what, ours.ratio, best.ratio * allowance, Unit.SHARE)


def _against_zstd(data: str, least: float, rows: dict[tuple[str, str], Row]) -> Iterator[Bar]:
    ours, plain = rows.get((data, OURS)), rows.get((data, PLAIN_ZSTD))
    if ours is None or plain is None:
        return
    packing = plain.pack_bytes_per_s / ours.pack_bytes_per_s
    yield Bar(f"{data}: packing, by the time of {PLAIN_ZSTD}", packing, 1 / least, Unit.TIMES)
    unpacking = plain.unpack_bytes_per_s / ours.unpack_bytes_per_s
    yield Bar(f"{data}: unpacking, by the time of {PLAIN_ZSTD}", unpacking, 1.0, Unit.TIMES)


def _is_ours(row: Row) -> bool:
    return row.name in (OURS, OURS_DELTA)


def _allowance(row: Row) -> float:
    return CLOSE_FACTOR if row.name == CLOSE_RIVAL else 1.0
