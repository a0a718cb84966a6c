"""What the parent asks of a child process, and what comes back."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from instride.bench.report import Floors

WATCHED = b"watched"
"""The line a child prints when its memory needs to be watched no longer."""


class Task(StrEnum):
    TIME = "time"
    """Train and save: nobody else may look at the process."""
    HAMMER = "hammer"
    """Train and save while the memory is watched, then try to tear snapshots."""
    FLOORS = "floors"
    UPKEEP = "upkeep"


class Order(msgspec.Struct, frozen=True):
    task: Task
    folder: str
    way: str = ""
    num_params: int = 0
    num_saves: int = 0
    num_bytes: int = 0
    device: str = "cpu"


class Save(msgspec.Struct, frozen=True):
    call_s: float
    cost_s: float
    durable_s: float
    steps_s: list[float]
    base_s: float


class Timed(msgspec.Struct, frozen=True, tag=True):
    state_bytes: int
    saves: list[Save]
    is_synced: bool


class Hammered(msgspec.Struct, frozen=True, tag=True):
    is_torn: bool


class Limits(msgspec.Struct, frozen=True, tag=True):
    floors: Floors


class Upkeep(msgspec.Struct, frozen=True, tag=True):
    planning_s: float
    beat_s: float


class Missing(msgspec.Struct, frozen=True, tag=True):
    """Something that is not installed."""

    name: str


Answer = Timed | Hammered | Limits | Upkeep | Missing
