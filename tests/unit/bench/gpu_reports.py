"""Reports of a GPU, whose rows have made-up figures."""

from __future__ import annotations

from typing import Any

import msgspec

from instride.bench.bars import bars
from instride.bench.orders import Hammered, Prepared, Save
from instride.bench.report import (
    DeviceFloors,
    Floors,
    Machine,
    Often,
    Report,
    RoundTrip,
    Row,
)
from instride.bench.summary import summarise

MACHINE = Machine(16, "a processor", 1 << 37, "ext4", "Linux 6", "3.12", "2.11", 0.1, "a GPU")
WHOLE = Hammered(5, 5)

TRIP = RoundTrip(
    [8.3, 11.4, 8.5], [8.2, 11.0, 8.1], [7.5, 10.0, 7.5], {},
    [5.2, 4.7, 4.8], [5.0, 4.6, 4.6], {}, [0.15] * 3, [0.151] * 9,
    [[]] * 3, [[]] * 3, [0.005] * 3,
)  # fmt: skip

OFTEN = Often([0.004, 0.012, 0.006], 17, 1, [0.002], [-0.001, 0.002])


def row(name: str, call_s: float, slowest_s: float = 0.15, **others: Any) -> Row:
    steps_s = [slowest_s] + [0.15] * 29
    save = Save(call_s, call_s + sum(steps_s), 8.0, steps_s, [0.15] * 40)
    plain = summarise(
        name, [[save] * 3], [], hammered=WHOLE, synced=True, peak_host_bytes=None,
        prepared=Prepared([0.05], [0.01], [0.4]),
    )  # fmt: skip
    return msgspec.structs.replace(plain, **others)


def report(*rows: Row, **others: Any) -> Report:
    made = Report(
        1, MACHINE, 15 * 10**9, 0.15, list(rows), Floors(0.4, None), [], None, None, "cuda", True,
        DeviceFloors(0.007, 0.29), 0.14, TRIP, OFTEN,
    )  # fmt: skip
    return msgspec.structs.replace(made, **others)


def kept(made: Report) -> dict[str, bool]:
    return {bar.what: bar.is_kept for bar in bars(made)}
