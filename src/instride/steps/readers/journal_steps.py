"""Which steps the beats of a journal are: as the loop says, or else counted."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection

import msgspec

UNKNOWN_STEP = -1


class Restored(msgspec.Struct, frozen=True):
    """A way back, as the line of it says."""

    step: int | None
    """Of the checkpoint; None where there was none yet."""
    line: int
    wall: float


class Beat(msgspec.Struct):
    """A step that has ended."""

    step: int
    line: int
    seconds: float | None
    wall: float
    restored: Restored | None = None
    """What it went on from, if that was not the step before."""


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
        self._saved_behind: dict[int, int] = {}
        """By the step that a save names: the one behind which it was. A loop that counts epochs, or
        parts of steps, names others than those that the optimizer counts."""
        self._is_counted: bool | None = None
        """Whether the steps of this process have no numbers of their own; None: not known yet."""
        self._is_anew = False
        """Whether another program came before this process: it has nothing but checkpoints."""
        self._begin_step = 0
        """Of the last process that went on from no checkpoint, as far as lines say."""
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
            self._count(beats, calls, begins=is_first)
        else:
            beats = _told(beats)
        if beats:
            if is_first and (beats[0].restored is None or beats[0].restored.step is None):
                self._begin_step = beats[0].step
            self._next_step = beats[-1].step + 1
        return beats

    def _first_number(self, beats: list[Beat], calls: Collection[Call]) -> int:
        """Where a process begins that was restored; else such that a save names the step that it
        was saved after.

        Without either: a program that was started anew has only the newest checkpoint to go on
        from, and where there is none it begins where the one before began.
        """
        restored = beats[0].restored
        if restored is not None and (goes_on := self._after(restored.step)) is not None:
            return goes_on
        walls = [beat.wall for beat in beats]
        for call in calls:
            place = bisect_right(walls, call.wall)
            if call.step is not None and call.step - place + 1 >= 0:
                return call.step - place + 1
        if restored is not None and restored.step is None:
            return self._begin_step
        if not self._is_anew and restored is None:
            return self._next_step
        return self._guess()

    def _after(self, saved: int | None) -> int | None:
        """The step after a checkpoint; None where nothing tells which one that is."""
        if saved is None:
            return None
        if saved in self._saved_behind:
            return self._saved_behind[saved] + 1
        are_the_same = all(step == behind for step, behind in self._saved_behind.items())
        return saved + 1 if are_the_same else None

    def _guess(self) -> int:
        saved = self.durable_step
        if saved is None:
            self.guessed_step = self._begin_step
        else:
            self.guessed_step = self._saved_behind.get(saved, saved) + 1
        return self.guessed_step

    def _count(self, beats: list[Beat], calls: Collection[Call], *, begins: bool) -> None:
        """Number the beats that have none yet, and see behind which of them saves were."""
        walls = [beat.wall for beat in beats]
        saves: dict[int, list[int]] = {}
        for call in calls:
            if call.step is not None:
                saves.setdefault(bisect_right(walls, call.wall), []).append(call.step)
        before = (self._next_step if beats[0].step == UNKNOWN_STEP else beats[0].step) - 1
        for place, beat in enumerate(beats):
            saved = saves.get(place, [])
            self._saved_behind.update(dict.fromkeys(saved, before))
            if beat.step == UNKNOWN_STEP:
                beat.step = before + 1 if begins and not place else self._next(beat, before)
            if beat.step in saved and beat.restored is None:  # the last digits of a clock are late
                self._saved_behind[beat.step] = beat.step
            before = beat.step
        self._saved_behind.update(dict.fromkeys(saves.get(len(beats), []), before))

    def _next(self, beat: Beat, before: int) -> int:
        """In the middle of a process the loop may go back to an earlier step, or on to a later."""
        if beat.restored is None or beat.restored.step is None:
            return before + 1
        goes_on = self._after(beat.restored.step)
        return self._guess() if goes_on is None else goes_on


def _told(beats: list[Beat]) -> list[Beat]:
    """Before the loop tells its first step, the optimizer has: one step, two beats."""
    kept: list[Beat] = []
    dropped: Beat | None = None
    for beat in beats:
        if dropped is not None and beat.seconds is not None:
            is_whole = dropped.seconds is not None
            beat.seconds = beat.seconds + (dropped.seconds or 0.0) if is_whole else None
        if dropped is not None:
            beat.restored = beat.restored or dropped.restored
        dropped = beat if beat.step == UNKNOWN_STEP else None
        if dropped is None:
            kept.append(beat)
    return kept
