"""Deadlines beat the budget, in steps: a lighter codec, then none, then no budget at all."""

from __future__ import annotations

from math import inf
from typing import Protocol

import msgspec

SETTLE_SHARE, LEAST_SETTLE_S, MOST_SETTLE_S = 0.1, 2.0, 30.0
"""How long a step is given to show what it brings: a share of the time that is left."""
PAUSE_SHARE, LEAST_PAUSE_S = 0.1, 1.0
"""What a pause may take of the time that is left. It takes as long as some steps, and where those
are long it might outlast the deadline."""


class Schedule(Protocol):
    """What there is to do, and by when."""

    @property
    def bytes_per_s(self) -> float | None: ...
    @property
    def left_bytes(self) -> int: ...
    @property
    def deadline_s(self) -> float | None: ...


class Haste(msgspec.Struct, frozen=True):
    needed_bytes_per_s: float | None
    """What must be done whatever it costs; infinite when the time is up; None while the budget
    counts."""
    why: str
    """Empty where there is time."""
    spare_s: float | None = None
    """How long nothing may be done at a time, where it must be done whatever it costs."""


class Urgency:
    """How far one job is behind. It only ever grows: a job that was late once is not slowed down
    again because it caught up."""

    def __init__(self, num_codec_steps: int) -> None:
        self._num_codec_steps = num_codec_steps
        self.codec_step = 0
        self._is_overdue = False
        self._why = ""
        self._next_s: float | None = None

    def begin(self) -> None:
        """The next job is like this one: begin one step below what this one needed."""
        self.codec_step = max(0, self.codec_step - 1)
        self._is_overdue = False
        self._why = ""
        self._next_s = None

    def judge(self, now_s: float, schedule: Schedule) -> Haste:
        deadline_s = schedule.deadline_s
        if deadline_s is None or not schedule.left_bytes:
            return Haste(None, "")
        left_s = deadline_s - now_s
        if left_s <= 0:
            self._hurry("the deadline has passed")
            return Haste(inf, self._why, LEAST_PAUSE_S)
        if self._next_s is None:
            self._next_s = now_s + _settle_s(left_s)
        elif now_s >= self._next_s and _is_late(left_s, schedule):
            self._take_a_step(left_s)
            self._next_s = now_s + _settle_s(left_s)
        if not self._is_overdue:
            return Haste(None, self._why)
        spare_s = max(LEAST_PAUSE_S, PAUSE_SHARE * left_s)
        return Haste(schedule.left_bytes / left_s, self._why, spare_s)

    def _take_a_step(self, left_s: float) -> None:
        if self.codec_step < self._num_codec_steps:
            self.codec_step += 1
            codec = "none" if self.codec_step == self._num_codec_steps else "lighter"
            self._why = f"at this rate it takes longer than the {left_s:.0f} s left: codec {codec}"
        else:
            self._hurry(f"at this rate it takes longer than the {left_s:.0f} s left")

    def _hurry(self, why: str) -> None:
        self._is_overdue = True
        self._why = why
        self.codec_step = self._num_codec_steps


def _settle_s(left_s: float) -> float:
    return min(MOST_SETTLE_S, max(LEAST_SETTLE_S, SETTLE_SHARE * left_s))


def _is_late(left_s: float, schedule: Schedule) -> bool:
    rate = schedule.bytes_per_s
    return rate is not None and rate * left_s < schedule.left_bytes
