"""The effort above which work has hurt."""

from __future__ import annotations

from math import inf

BELOW_HARM = 0.7
"""Where the ceiling is set, seen from an effort that hurt."""
PROBE = 1.3
"""How far beyond it is tried when the time comes."""
RETRY_S, LONGEST_RETRY_S = 60.0, 960.0


class Ceiling:
    """Tried again after a while, and after twice as long each time that it hurts again. A trial
    that does no harm is not the last one: what hurt may be over."""

    def __init__(self) -> None:
        self.effort = 1.0
        self._retry_s = RETRY_S
        self._retry_at_s = inf

    def hurt(self, now_s: float, effort: float) -> None:
        self.effort = min(self.effort, effort * BELOW_HARM)
        self._retry_at_s = now_s + self._retry_s
        self._retry_s = min(2 * self._retry_s, LONGEST_RETRY_S)

    def look(self, now_s: float) -> None:
        """Let more be tried, if the time has come."""
        if now_s >= self._retry_at_s:
            self.effort, self._retry_at_s = min(1.0, PROBE * self.effort), inf

    def hold(self, now_s: float) -> None:
        """All that it allows was done, and harmed nobody."""
        if self.effort < 1.0 and self._retry_at_s == inf:
            self._retry_at_s = now_s + self._retry_s
