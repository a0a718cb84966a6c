"""When a save is due: every so many steps, every so many minutes, or when a signal asks for one."""

from __future__ import annotations

import operator
import re
import signal
import time

from instride.saver import signals

UNITS_S = {"s": 1, "sec": 1, "min": 60, "h": 3600, "d": 86_400}
DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(s|sec|min|h|d)")


def seconds_of(text: str) -> float:
    """`10min` in seconds. Raises ValueError."""
    match = DURATION.fullmatch(text.strip())
    if match is None or float(match[1]) == 0:
        raise ValueError(f"every={text!r}: say how often as in every='10min', '90s', '2h' or '1d'")
    return float(match[1]) * UNITS_S[match[2]]


def _steps_of(every: object) -> int:
    """A whole number of steps, also as NumPy and torch have it. Raises ValueError."""
    try:
        steps = operator.index(every)  # type: ignore[arg-type]  # that is what is found out
    except TypeError:
        steps = 0
    if steps < 1 or isinstance(every, bool):
        raise ValueError(f"every={every!r}: must be a whole number from 1 on, or as in '10min'")
    return steps


class Rhythm:
    """Remembers when the last save was, and whether one was asked for."""

    def __init__(self) -> None:
        self._last_s = time.monotonic()
        self._asked = False
        self._is_to_stop = False
        self._is_stop_looked_for = False
        self.is_stop_missed = False
        """SIGTERM has arrived, what it asked for was saved, and the loop goes on without a look."""
        self._is_listening = False
        self._is_over = False

    @property
    def should_stop(self) -> bool:
        """SIGTERM has arrived: the machine will be taken away."""
        self.listen()
        self._is_stop_looked_for = True
        return self._is_to_stop

    def is_due(self, step: int, every: int | str | None) -> bool:
        self.listen()
        if self._asked:
            self._asked = False
            return True
        self.is_stop_missed = self._is_to_stop and not self._is_stop_looked_for
        if every is None:
            return False
        if isinstance(every, str):
            return time.monotonic() - self._last_s >= seconds_of(every)
        return step > 0 and step % _steps_of(every) == 0

    def saved(self) -> None:
        self._last_s = time.monotonic()

    def hear_requests(self) -> None:
        """Take note of SIGUSR1 from the start: it may come in the first step, while that is being
        compiled, and would end a program that nobody wants to end."""
        signals.listen(self, signals.REQUESTS)

    def listen(self) -> None:
        """Take note of SIGTERM too, now that somebody asks. Whoever never does is left as he was:
        by what nobody would ever look at, a program could not be ended any more."""
        if not self._is_listening and not self._is_over:
            self._is_listening = signals.listen(self)

    def hear(self, number: int) -> bool:
        """A signal has come; False for a second SIGTERM."""
        is_new = not (number == signal.SIGTERM and self._is_to_stop)
        self._asked = True
        self._is_to_stop = self._is_to_stop or number == signal.SIGTERM
        return is_new

    def stop_listening(self) -> None:
        self._is_over = True
        signals.stop_listening(self)
