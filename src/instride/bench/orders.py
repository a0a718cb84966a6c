"""What the parent asks of a child process, and what comes back."""

from __future__ import annotations

from enum import StrEnum
from statistics import fmean

import msgspec

from instride.bench.names import MOST_STEPS
from instride.bench.report import DeviceFloors, Floors, Often, RoundTrip

NUM_EARLY = 10
WATCHED = b"watched"
"""The line a child prints when its memory needs to be watched no longer."""


class Task(StrEnum):
    TIME = "time"
    """Train and save: nobody else may look at the process."""
    HAMMER = "hammer"
    """Train and save while the memory is watched, then try to tear snapshots."""
    FLOORS = "floors"
    UPKEEP = "upkeep"
    PREPARE = "prepare"
    """Train with and without a way that prepares, in turn: nobody else may look."""
    ROUND_TRIP = "round trip"
    """Save and restore, in turn with bare writing and reading."""
    OFTEN = "often"
    """Save every ten steps, in turn with stretches in which nothing is saved."""


class Order(msgspec.Struct, frozen=True):
    task: Task
    folder: str
    way: str = ""
    num_params: int = 0
    num_saves: int = 0
    num_rest_steps: int = 0
    """The shortest window."""
    most_rest_steps: int = MOST_STEPS
    """The longest window without a save."""
    num_prepare_steps: int = 10
    """Between the making of a way and its first save."""
    is_saved_at_once: bool = False
    """Whether the first save comes right behind these steps, even if what prepares goes on."""
    num_idle_saves: int = 0
    watches_memory: bool = True
    num_bytes: int = 0
    device: str = "cpu"
    is_synced_loop: bool = True


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

    @property
    def early_cost_s(self) -> float:
        """What the call and the first steps cost: few enough that a drift hardly counts."""
        early_s = self.steps_s[:NUM_EARLY]
        return self.call_s + sum(early_s) - len(early_s) * self.base_s


class Timed(msgspec.Struct, frozen=True, tag=True):
    state_bytes: int
    saves: list[Save]
    idle_durable_s: list[float]
    is_synced: bool
    passes_s: list[float] = []
    """What forward and backward take by themselves, several times; on a GPU only."""


class Prepared(msgspec.Struct, frozen=True, tag=True):
    costs_s: list[float]
    """What the steps behind the making of a way took beyond those before it and behind its end."""
    told_s: list[float]
    """What the way itself says of that."""
    making_s: list[float]


class Hammered(msgspec.Struct, frozen=True, tag=True):
    """Snapshots behind which everything was overwritten, and those that do not show it."""

    num_blows: int
    num_whole: int

    @property
    def is_torn(self) -> bool:
        return self.num_whole < self.num_blows


class Limits(msgspec.Struct, frozen=True, tag=True):
    floors: Floors
    device_floors: DeviceFloors | None = None


class Upkeep(msgspec.Struct, frozen=True, tag=True):
    planning_s: float
    beat_s: float


class Missing(msgspec.Struct, frozen=True, tag=True):
    """Something that is not installed."""

    name: str


class NoDevice(msgspec.Struct, frozen=True, tag=True):
    """What was to be trained on is not there."""

    name: str


class ThereAndBack(msgspec.Struct, frozen=True, tag=True):
    round_trip: RoundTrip


class SavedOften(msgspec.Struct, frozen=True, tag=True):
    often: Often


Answer = (
    Timed | Prepared | Hammered | Limits | Upkeep | ThereAndBack | SavedOften | Missing | NoDevice
)
