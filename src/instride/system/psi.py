"""How much work waits for a resource (PSI, pressure stall information; Linux 4.20 and newer)."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import msgspec

PRESSURE = Path("/proc/pressure")
Kind = Literal["cpu", "io", "memory"]


class Stall(msgspec.Struct, frozen=True):
    """Shares of the last seconds, 0 to 1, and the seconds since the start."""

    avg10: float
    avg60: float
    avg300: float
    total_s: float


class Pressure(msgspec.Struct, frozen=True):
    some: Stall
    """At least one task waited."""
    full: Stall | None
    """All tasks waited; older kernels do not count that for the CPU."""


def read(kind: Kind, folder: Path = PRESSURE) -> Pressure | None:
    """What the machine as a whole waits for; None where the kernel does not say."""
    return read_file(folder / kind)


def read_file(path: Path) -> Pressure | None:
    """The same for one control group, from its `memory.pressure` and the like."""
    try:
        text = path.read_text(encoding="ascii")
        stalls = dict(_parse(line) for line in text.splitlines())
        return Pressure(stalls["some"], stalls.get("full"))
    except (OSError, ValueError, KeyError):  # switched off: the file is there, reading it fails
        return None


def _parse(line: str) -> tuple[str, Stall]:
    name, *pairs = line.split()
    values = dict(pair.split("=", 1) for pair in pairs)
    avg10, avg60, avg300 = (float(values[key]) / 100 for key in ("avg10", "avg60", "avg300"))
    return name, Stall(avg10, avg60, avg300, int(values["total"]) / 1e6)
