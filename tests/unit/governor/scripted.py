"""Steps of a training that are written down."""

from __future__ import annotations

from instride.governor.model import Step


class Script:
    """A source that gives what it is told to."""

    resolution_s = 0.0

    def __init__(self) -> None:
        self.steps: list[Step] = []

    def read(self, now_s: float) -> list[Step]:
        steps, self.steps = self.steps, []
        return steps
