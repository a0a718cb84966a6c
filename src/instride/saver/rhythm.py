"""When a save is due: every so many steps, every so many minutes, or when a signal asks for one."""

from __future__ import annotations

import re
import signal
import threading
import time
from types import FrameType
from typing import Any

UNITS_S = {"s": 1, "sec": 1, "min": 60, "h": 3600, "d": 86_400}
DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(s|sec|min|h|d)")
SIGNALS = (signal.SIGTERM, signal.SIGUSR1)


def seconds_of(text: str) -> float:
    """`10min` in seconds. Raises ValueError."""
    match = DURATION.fullmatch(text.strip())
    if match is None or float(match[1]) == 0:
        raise ValueError(f"every={text!r}: say how often as in every='10min', '90s', '2h' or '1d'")
    return float(match[1]) * UNITS_S[match[2]]


class Rhythm:
    """Remembers when the last save was, and whether one was asked for."""

    def __init__(self) -> None:
        self._last_s = time.monotonic()
        self._asked = False
        self.should_stop = False
        """SIGTERM has arrived: the machine will be taken away."""
        self._before: dict[int, Any] = {}

    def is_due(self, step: int, every: int | str | None) -> bool:
        if self._asked:
            self._asked = False
            return True
        if isinstance(every, int):
            if every < 1:
                raise ValueError(f"every={every}: must be 1 or more")
            return step > 0 and step % every == 0
        if every is None:
            return False
        return time.monotonic() - self._last_s >= seconds_of(every)

    def saved(self) -> None:
        self._last_s = time.monotonic()

    def listen(self) -> None:
        """Take note of SIGTERM and SIGUSR1. Only the main thread may; elsewhere nothing changes."""
        if threading.current_thread() is not threading.main_thread():
            return
        for number in SIGNALS:
            before = signal.getsignal(number)
            if before is None:
                continue  # somebody's in C: we could not call it
            self._before[number] = before
            signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        first = not (number == signal.SIGTERM and self.should_stop)
        self._asked = True
        self.should_stop = self.should_stop or number == signal.SIGTERM
        before = self._before.get(number)
        if callable(before):
            before(number, frame)
        elif not first:
            # Whoever asks a second time means it.
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)

    def stop_listening(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return
        for number, before in self._before.items():
            if signal.getsignal(number) == self._on_signal:
                signal.signal(number, before)
        self._before.clear()
