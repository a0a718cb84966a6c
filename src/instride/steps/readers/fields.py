"""Numbers behind their names (`time: 0.43`, `"time": 0.43`), in lines too long to match whole."""

from __future__ import annotations

import re
from math import isfinite

WHOLE = re.compile(r"\d{1,15}(?![\w.])")
NUMBER = re.compile(r"\d{1,15}(?:\.\d{0,20})?(?:[eE][+-]?\d{1,3})?(?![\w.])")


def whole_after(line: str, name: str, begin: int = 0) -> int | None:
    """The whole number that follows the first `name` in a line; None if there is none."""
    at = line.find(name, begin)
    found = WHOLE.match(line, at + len(name)) if at >= 0 else None
    return None if found is None else int(found[0])


def number_after(line: str, name: str, begin: int = 0) -> float | None:
    """The number that follows the first `name` in a line; None if there is none, or not finite."""
    at = line.find(name, begin)
    found = NUMBER.match(line, at + len(name)) if at >= 0 else None
    if found is None:
        return None
    value = float(found[0])
    return value if isfinite(value) else None
