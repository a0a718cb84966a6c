"""Spans: stretches of steps with an owner other than computing, and how each was told."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Owner(StrEnum):
    """Who a second of the run belongs to, in the order of the table."""

    COMPUTE = "compute"
    WARMUP = "warmup"
    EVAL = "eval"
    SAVE = "save"
    AFTERMATH = "aftermath"
    DATA = "data"
    STARTUP = "startup"
    RESTART = "restart"
    LOST = "lost"
    UNKNOWN = "unknown"


class Told(StrEnum):
    """How a span was found: the ladder of confidence, best first."""

    STATED = "stated"
    """The log says how long it took."""
    MARKER = "marker"
    """The log marks it, and the rule of the dialect says where its time lands."""
    SPLIT = "split"
    """The log marks its pause, but which part of it is its own rests on the first step."""
    HINT = "hint"
    """A line that usually accompanies it."""
    PERIOD = "period"
    """It comes at equal distances."""
    SHAPE = "shape"
    """Nothing but the times themselves."""


class Span(msgspec.Struct):
    owner: Owner
    first_step: int
    last_step: int
    extra_s: float
    """Wall time beyond the baseline, of the steps that the log shows."""
    factor: float
    """Duration of a step over the baseline; the median if there are several."""
    told: Told
    begin: int
    """Index of the first record."""
    end: int
    """Index after the last record."""
    lines: list[int]
    """Evidence: line numbers in the log."""
    named_step: int | None = None
    """The step that the log itself names for it."""
    unseen_s: float = 0.0
    """Estimate for steps between the records, which the log does not show."""
    is_joint: bool = False
    """Evaluation and saving in one pause that the log does not split."""
    period: int | None = None
    """Of the comb that it belongs to."""
    is_closing: bool = False
    """After the last step of a process."""
    chance: float = 0.0
    """How likely chance alone makes such spans, where places elsewhere were looked at for that."""

    @property
    def step(self) -> int:
        """The step to call it by."""
        return self.last_step if self.named_step is None else self.named_step

    @property
    def cost_s(self) -> float:
        return self.extra_s + self.unseen_s
