"""Which steps the beats of a journal are: as the loop says, or else counted."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection

import msgspec

UNKNOWN_STEP = -1


class Beat(msgspec.Struct):
    """A step that has ended."""

    step: int
    line: int
    seconds: float | None
    wall: float


class Call(msgspec.Struct, frozen=True):
    """A save, as training saw it."""

    id: int | None
    step: int | None
    seconds: float | None
    wall: float
    line: int


class Numbering:
    """Gives the beats of one process after another their steps."""

    def __init__(self) -> None:
        self.has_counted = False
        self.guessed_step: int | None = None
        """Where a process was taken to begin, without a line that says so; the last of several."""
        self.durable_step: int | None = None
        """Of the newest checkpoint that could be gone on from."""
        self._is_counted: bool | None = None
        """Whether the steps of this process have no numbers of their own; None: not known yet."""
        self._is_anew = False
        """Whether another program came before this process: it has nothing but checkpoints."""
        self._begin_step = 0
        self._next_step = 0

    def begin_process(self, *, is_anew: bool) -> None:
        self._is_counted = None
        self._is_anew = is_anew

    def number(self, beats: list[Beat], calls: Collection[Call]) -> list[Beat]:
        """The beats that are steps. Where the loop tells its steps, go by that alone."""
        if not beats:
            return beats
        is_first = self._is_counted is None
        if self._is_counted is None:
            self._is_counted = all(beat.step == UNKNOWN_STEP for beat in beats)
            if self._is_counted:
                self.has_counted = True
                self._next_step = self._first_number(beats, calls)
        if self._is_counted:
            self._count(beats)
        else:
            beats = _told(beats)
        if beats:
            self._begin_step = beats[0].step if is_first else self._begin_step
            self._next_step = beats[-1].step + 1
        return beats

    def _first_number(self, beats: list[Beat], calls: Collection[Call]) -> int:
        """Such that a save names the step that it was saved after.

        Without one: a program that was started anew has only the newest checkpoint to go on from,
        and where there is none it begins where the one before began.
        """
        walls = [beat.wall for beat in beats]
        for call in calls:
            place = bisect_right(walls, call.wall)
            if call.step is not None and call.step - place + 1 >= 0:
                return call.step - place + 1
        if not self._is_anew:
            return self._next_step
        saved = self.durable_step
        self.guessed_step = self._begin_step if saved is None else saved + 1
        return self.guessed_step

    def _count(self, beats: list[Beat]) -> None:
        number = self._next_step
        for beat in beats:
            if beat.step == UNKNOWN_STEP:
                beat.step = number
                number += 1


def _told(beats: list[Beat]) -> list[Beat]:
    """Before the loop tells its first step, the optimizer has: one step, two beats."""
    kept: list[Beat] = []
    dropped: Beat | None = None
    for beat in beats:
        if dropped is not None and beat.seconds is not None:
            is_whole = dropped.seconds is not None
            beat.seconds = beat.seconds + (dropped.seconds or 0.0) if is_whole else None
        dropped = beat if beat.step == UNKNOWN_STEP else None
        if dropped is None:
            kept.append(beat)
    return kept
