"""Counters as text: evidence is shown as it was read, the same in every language."""

from __future__ import annotations

_UNITS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def size(num_bytes: float) -> str:
    unit, name = next((each for each in _UNITS if num_bytes >= each[0]), (1, "bytes"))
    return f"{num_bytes / unit:.3g} {name}"


def speed(bytes_per_s: float) -> str:
    return f"{size(bytes_per_s)}/s"


def percent(share: float) -> str:
    return f"{share:.1%}"
