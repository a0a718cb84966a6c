"""What was learnt about the lines of an unknown trainer."""

from __future__ import annotations

import msgspec

from instride.steps.readers.guess_anchors import Field
from instride.steps.readers.guess_times import Times


class Learnt(msgspec.Struct):
    """How to read the steps of a log, and how sure that is."""

    score: float
    step: Field
    stride: int
    times: Times
    form: str | None
    """The form of the timestamps on the lines."""
    is_own_clock: bool
    """The timestamps count from the start of the process."""
    epoch: Field | None = None
    epoch_lines: bool = False
    """Epochs are on lines of their own."""
    first_epoch: int = 1
    seconds: Field | None = None
    elapsed: Field | None = None
    data: Field | None = None
    stamp: Field | None = None
    required: str = ""
    """A word that stands on all records: what tells them from others where no duration does."""
    needs_seconds: bool = False
    """All records have a duration: a line without one is another kind."""
    num_slots: int = 0
    labels: frozenset[str] = frozenset()
    """Names of numbers that all records have."""
    evals_apart: bool = False
    """Lines that name evaluations repeat the step of a record: they are none themselves."""
    evaluates: bool = False
    """Records name evaluations all the time: that does not make them one."""
    batch: int = 1
    """Samples a step, where the log counts those."""
    total: int | None = None
    """Out of how many steps most records are: a batch of an evaluation is one of others."""
