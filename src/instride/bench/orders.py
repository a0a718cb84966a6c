"""What the parent asks of a child process, and what comes back."""

from __future__ import annotations

from enum import StrEnum
from statistics import fmean

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
    num_rest_steps: int = 0
    """The shortest window."""
    num_bytes: int = 0
    device: str = "cpu"


class Save(msgspec.Struct, frozen=True):
    """A window of steps that begins with a save."""

    call_s: float
    window_s: float
    durable_s: float
    steps_s: list[float]
    base_steps_s: list[float] = []
    """Steps of the windows before and behind it, in which nothing was saved."""

    @property
    def base_s(self) -> float:
        """What a step takes. The mean: of many steps with a few slow ones among them, windows are
        the sum, and any other middle times their number is not."""
        return fmean(self.base_steps_s)

    @property
    def cost_s(self) -> float:
        return self.window_s - len(self.steps_s) * self.base_s


class Timed(msgspec.Struct, frozen=True, tag=True):
    state_bytes: int
    saves: list[Save]
    idle_durable_s: list[float]
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
