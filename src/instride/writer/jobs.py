"""Saves under way, and those among them that somebody waits for."""

from __future__ import annotations

import threading

from instride.writer.hands import Crew
from instride.writer.writing import Job


class Jobs:
    """Known to the thread that hears the trainer, and to the one that saves."""

    def __init__(self, crew: Crew) -> None:
        self._crew = crew
        self._lock = threading.Lock()
        self._under_way: dict[int, Job] = {}
        self._awaited: set[int] = set()

    def add(self, job: Job) -> None:
        with self._lock:
            self._under_way[job.begin.id] = job

    def get(self, id: int) -> Job | None:
        with self._lock:
            return self._under_way.get(id)

    def all(self) -> list[Job]:
        with self._lock:
            return list(self._under_way.values())

    def hurry(self, id: int) -> None:
        """Somebody waits for that save: compete for the machine until it is committed. The word may
        come a moment late, when that has happened."""
        with self._lock:
            if id in self._under_way:
                self._awaited.add(id)
                self._crew.hurry()

    def end(self, job: Job) -> None:
        """It is committed, or has failed."""
        with self._lock:
            self._under_way.pop(job.begin.id, None)
            self._awaited.discard(job.begin.id)
        self.relax()

    def relax(self) -> None:
        """Yield again, unless somebody waits."""
        with self._lock:
            if not self._awaited:
                self._crew.relax()
