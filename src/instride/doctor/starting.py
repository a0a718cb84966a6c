"""How long this process has been there: ten seconds are promised from the key that starts it."""

from __future__ import annotations

import time

import psutil

LONGEST_START_S = 5.0
"""A process that is older has done something else before; and clocks may be set meanwhile."""


def seconds_since_start(now: float | None = None) -> float:
    """What starting took, on a busy machine a second or more; 0 where that cannot be told."""
    age_s = (time.time() if now is None else now) - psutil.Process().create_time()
    return age_s if 0 < age_s < LONGEST_START_S else 0.0
