"""An engine that takes no snapshots: it notes what it is asked for while training steps."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any


class Following:
    def __init__(self) -> None:
        self.is_late = False
        self.asked: list[str] = []
        self.page: Any = SimpleNamespace(beat=lambda step, at_s: self.asked.append("beat"))
        self.has_stepped: Callable[[], bool] = lambda: False

    def follow(self, promises: object, has_stepped: Callable[[], bool]) -> None:
        self.has_stepped = has_stepped

    def fence(self) -> None:
        self.asked.append("fence")

    def mark_step(self) -> None:
        self.asked.append("mark")

    def give_way(self) -> None:
        self.asked.append("give way")
