"""What a log says, in one shape for all trainers: dialects, events and runs.

A run is kept in columns (arrays of numbers), not in objects: a log of a gigabyte has millions of
records, and explaining it may take 300 MB.
"""

from __future__ import annotations

from array import array
from enum import StrEnum

import msgspec

from instride.steps.columns import Column
from instride.steps.notes import Note

MISSING = float("nan")


class Pauses(StrEnum):
    """Where the time of an evaluation or a save lands, by the trainer's own clock."""

    SAME = "same"
    """In the printed duration of the record that follows the marker; it belongs to that step."""
    NEXT = "next"
    """In the printed duration of the record that follows the marker; it happened before it."""
    NONE = "none"
    """In no printed duration: the trainer stops its clock. Only a wall clock shows it."""
    SMOOTHED = "smoothed"
    """Smeared over several printed values (moving averages): printed values are not trusted."""


class Sampling(StrEnum):
    """What a printed duration stands for."""

    EVERY_STEP = "every step"
    EVERY_KTH = "every k-th step"
    """One step of k is printed, with its own duration; the others are not seen."""
    AVERAGE = "average over k steps"
    RUNNING_TOTAL = "running total"
    """The reader passes differences of a counter, so a record covers all steps since the last."""
    TOTALS = "totals only"
    """No time per step at all, only of the whole run and of its evaluations."""


class Dialect(msgspec.Struct, frozen=True):
    """How one trainer writes its log."""

    name: str
    """What `--dialect` takes and `--json` says: lower case, with dashes."""
    title: str
    """The trainer as its users call it."""
    sample: str
    """One line that the reader recognises; shown by `--dialects`, checked by the contract tests."""
    pauses: Pauses
    sampling: Sampling


class EventKind(StrEnum):
    START = "start"
    """A process began (a launch banner): what follows is not the same process."""
    LOAD = "load"
    """A checkpoint was looked for or loaded."""
    COMPILE = "compile"
    EVAL = "eval"
    SAVE = "save"
    AFTER_SAVE = "after save"
    """The trainer says that a save came just before: in the record before this marker."""
    CLEANUP = "cleanup"
    """Old checkpoints were deleted on the training thread."""
    FLUSH = "flush"
    """The memory allocator of the device gave its cache back to find room."""
    EPOCH = "epoch"
    END = "end"
    """The trainer says that the training is complete: what follows is another run."""


class Event(msgspec.Struct, frozen=True, gc=False):
    """Something that the log says between two records."""

    kind: EventKind
    line: int
    at: int
    """How many records came before it: it stands between records `at - 1` and `at`."""
    seconds: float | None = None
    """How long training stood still for it, if the log says so (never a background duration)."""
    wall: float | None = None
    """The wall clock on its line, if any."""
    step: int | None = None
    """The step it names, if any."""
    sure: bool = True
    """False where the line only hints at it (a warning that a save is known to print)."""


class Clock(msgspec.Struct, frozen=True):
    """The wall clock on a line that holds no step."""

    wall: float
    line: int
    at: int
    """How many records came before it."""


class Run:
    """The records and events of one training, in the order of the log; restarts are not cut yet."""

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self.step = Column()
        self.line = Column()
        self.seconds = array("d")
        """Printed duration of one step; NaN where the record has none; empty if never printed."""
        self.wall = array("d")
        """Wall clock at the end of the record's step, in seconds; NaN where unknown; empty if the
        log has none at all."""
        self.data = array("d")
        """Time of that step spent waiting for data; NaN where unknown; empty if never printed."""
        self.events: list[Event] = []
        self.clock_is_absolute = True
        """False where the wall clock is a bar's elapsed time, which starts anew with a process."""
        self.clock_resolution_s = 0.0
        """How finely the wall clock is printed: a bar counts whole seconds."""
        self.first_clock: Clock | None = None
        """The time on the first line that had one, if that is before the first record."""
        self.ends: list[Clock] = []
        """The last time seen of each process that did more after its last record."""
        self.total_s: float | None = None
        """Duration of the whole training as the log states it, where there is no clock."""
        self.line_offsets: list[int] = []
        """How many lines came before each of the files that the run was read from."""
        self.num_duplicates = 0
        """Records dropped because another rank had printed the same step."""
        self.sizes: list[tuple[int, int]] = []
        """Lines that say how large a file is that a save wrote, and its bytes."""
        self.notes: list[Note] = []
        """What a reader had to guess or could not read, for the user."""

    def __len__(self) -> int:
        return len(self.step)

    def seconds_at(self, index: int) -> float:
        """The printed duration of a record, NaN if it has none."""
        return self.seconds[index] if self.seconds else MISSING

    def wall_at(self, index: int) -> float:
        """The wall clock of a record, NaN if it has none."""
        return self.wall[index] if self.wall else MISSING
