"""Rows and scenarios by name, and how much of each is measured: what `--help` needs to know."""

from __future__ import annotations

import struct
from enum import StrEnum

NOTHING = "none"
NOTHING_AGAIN = "none again"
NAIVE = "naive"
NICE = "naive nice 19"
ELSEWHERE = "naive nice 19, other terminal"
IDLE = "idle only"
OURS = "instride"
NAMES = (NOTHING, NOTHING_AGAIN, NAIVE, NICE, ELSEWHERE, IDLE, OURS)
"""Every row, in the order of the table."""
TRACED = (NAIVE, ELSEWHERE, OURS)
"""Rows whose steps are drawn."""


class Scenario(StrEnum):
    """What the training needs most."""

    CPU = "cpu"
    """All cores."""
    DISK = "disk"
    """The disk that the file is on: each step reads its data from there."""
    MEMORY = "memory"
    """Bandwidth of the memory: each step copies more than any cache holds."""


STEPS, LOG, DATA = "steps.bin", "train.log", "data.bin"
"""What the training writes, and reads."""
STEP = struct.Struct("<dd")
"""When a step ended by the monotonic clock, and how long it took."""
DEFAULT_MEGABYTES = 1024
DEFAULT_BLOCKS = 10
DEFAULT_SECONDS = 2.4
OURS_LONGER, OURS_REST_LONGER = 2.2, 1.4
"""The governor measures in windows of a second and more: its blocks are longer by this. So are its
rests, so that it notices that it was stopped."""
MOST_ALONE_S = 90.0
"""How long a rival that was not done beside the training may take to finish without it."""
