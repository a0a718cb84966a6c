"""What workers ask before each piece of work: whether it may be done now.

Without a governor a pace never blocks. With one, threads, bytes per second and pauses are set from
outside, and whoever waits for the result lifts all of that at once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

FREE = 1 << 30
"""More threads than anybody starts."""


class StoppedError(Exception):
    """The work was called off while a piece waited for its turn."""


class Setting(msgspec.Struct, frozen=True):
    """What the governor sets."""

    threads: int = FREE
    bytes_per_s: float | None = None
    """None: as fast as it goes."""
    is_open: bool = True
    """False during a pause."""


class Turn(msgspec.Struct):
    num_bytes: int
    """What it counts for: whoever finds out meanwhile that it is less says so here."""


class Tally(msgspec.Struct, frozen=True):
    """What has been done so far."""

    num_bytes: int
    busy_s: float
    """Seconds that threads spent in their turns, all together."""
    num_hurries: int = 0
    """How often somebody began to wait."""


class Allowance:
    """Bytes per second, without bursts: what was not used in time is lost."""

    def __init__(self) -> None:
        self._debt_bytes = 0.0
        self._at_s = 0.0

    def wait_s(self, now_s: float, bytes_per_s: float) -> float:
        """How long until the next piece may begin."""
        passed_s = max(0.0, now_s - self._at_s)
        self._debt_bytes = max(0.0, self._debt_bytes - passed_s * bytes_per_s)
        self._at_s = now_s
        return self._debt_bytes / bytes_per_s

    def take(self, num_bytes: int) -> None:
        self._debt_bytes += num_bytes


class Pace:
    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._setting = Setting()
        self._allowance = Allowance()
        self._is_hurried = False
        self._is_stopped = False
        self._num_active = 0
        self._num_waiting = 0
        self._num_bytes = 0
        self._busy_s = 0.0
        self._num_hurries = 0
        self.codec_step = 0
        """0: as configured; 1: lighter; 2: none."""
        self.may_start = True
        """False while nothing is to be begun at all, because a training runs."""

    @contextmanager
    def turn(self, num_bytes: int, *, is_extra: bool = False) -> Iterator[Turn]:
        """Around one piece of work: waits until it may be done; StoppedError if it never will.

        An extra one does not count as a thread: those that yield may all be in the middle of a
        piece, and get nothing done."""
        self._enter(num_bytes, is_extra)
        turn = Turn(num_bytes)
        begun_s = time.monotonic()
        try:
            yield turn
        finally:
            self._leave(turn.num_bytes, time.monotonic() - begun_s)

    def set(self, setting: Setting) -> None:
        with self._changed:
            if setting != self._setting:
                self._setting = setting
                self._changed.notify_all()

    def hurry(self) -> None:
        """Somebody waits: nothing is held back until `relax`."""
        with self._changed:
            self._is_hurried = True
            self._num_hurries += 1
            self._changed.notify_all()

    def relax(self) -> None:
        """Nobody waits any more."""
        with self._changed:
            self._is_hurried = False

    def stop(self) -> None:
        """Let every turn that waits, and every later one, end in StoppedError."""
        with self._changed:
            self._is_stopped = True
            self._changed.notify_all()

    @property
    def is_waiting(self) -> bool:
        """Whether work is being held back right now."""
        return self._num_waiting > 0

    @property
    def is_active(self) -> bool:
        """Whether a piece is being worked on right now."""
        return self._num_active > 0

    @property
    def is_hurried(self) -> bool:
        return self._is_hurried

    def tally(self) -> Tally:
        with self._changed:
            return Tally(self._num_bytes, self._busy_s, self._num_hurries)

    def _enter(self, num_bytes: int, is_extra: bool) -> None:
        with self._changed:
            self._num_waiting += 1
            try:
                while (wait_s := self._wait_s(is_extra)) is None or wait_s > 0:
                    self._changed.wait(wait_s)
            finally:
                self._num_waiting -= 1
            self._num_active += 1
            # What is done in a hurry is nobody's debt: it would be paid by standing still, later.
            if self._setting.bytes_per_s is not None and not self._is_hurried:
                self._allowance.take(num_bytes)

    def _wait_s(self, is_extra: bool) -> float | None:
        """How long to wait before looking again: 0 for go, None until something changes."""
        if self._is_stopped:
            raise StoppedError
        if self._is_hurried:
            return 0.0
        has_room = is_extra or self._num_active < self._setting.threads
        if not self._setting.is_open or not has_room:
            return None
        if self._setting.bytes_per_s is None:
            return 0.0
        return self._allowance.wait_s(time.monotonic(), self._setting.bytes_per_s)

    def _leave(self, num_bytes: int, took_s: float) -> None:
        with self._changed:
            self._num_active -= 1
            self._num_bytes += num_bytes
            self._busy_s += took_s
            self._changed.notify_all()
