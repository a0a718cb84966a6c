"""A log that can be spoilt, and the exit codes of what cannot be used."""

from __future__ import annotations

from collections.abc import Iterator

EMPTY, BINARY, UNREADABLE, NO_STEPS, NO_TIMES, NO_LOGS = 11, 12, 10, 13, 14, 15
UNKNOWN_DIALECT, BAD_PATTERN, USAGE = 3, 4, 2


def nanogpt(steps: Iterator[int] | range | list[int], time: str = "120.00ms") -> str:
    return "".join(f"iter {step}: loss 3.1000, time {time}, mfu 9.10%\n" for step in steps)
