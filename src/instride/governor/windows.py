"""How long work and pauses last, so that step times in them can be compared."""

from __future__ import annotations

LEAST_S, MOST_S = 1.0, 60.0
STEPS = 6.0
"""In the shorter kind of window; where that takes too long, at least two and a bit."""
LEAST_STEPS = 2.2
RESOLUTIONS = 10.0
"""A window is so many times longer than the end of a step is uncertain."""
GOLDEN = 0.618034
JITTER = 0.4
"""Of its length, by which a window varies: one that is always the same might keep time with
something that the training does every so many steps."""


class Windows:
    def __init__(self) -> None:
        self._count = 0

    def next_s(
        self, is_work: bool, duty: float, span_s: float | None, resolution_s: float
    ) -> float:
        """The length of the window that begins now."""
        self._count += 1
        unit_s = unit(span_s, resolution_s)
        unit_s *= 1 - JITTER / 2 + JITTER * (self._count * GOLDEN % 1)
        if is_work:
            return unit_s * max(1.0, duty / (1 - duty)) if duty < 1 else unit_s
        return unit_s * max(1.0, (1 - duty) / duty)


def unit(span_s: float | None, resolution_s: float) -> float:
    """The shortest window that can be compared; `span_s` is what a step takes."""
    if span_s is None:
        return max(LEAST_S, RESOLUTIONS * resolution_s)
    by_steps_s = max(min(STEPS * span_s, MOST_S), LEAST_STEPS * span_s)
    return max(LEAST_S, by_steps_s, RESOLUTIONS * resolution_s)
