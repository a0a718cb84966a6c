"""Jobs that overlap: what is left of each, and what of it is due, and when."""

from __future__ import annotations

from math import inf

import msgspec


class Job(msgspec.Struct, eq=False):
    """Some work, known by itself: two may look alike."""

    left_bytes: int
    deadline_s: float | None
    most_effort: float
    """What there are threads for."""
    is_hasty: bool = False
    """Its deadline beats the budget."""


class Jobs:
    """Those under way.

    Turns do not say whose they are: what was done counts for what is due first, and then for what
    began last, because the earlier ones make way for it.
    """

    def __init__(self) -> None:
        self._jobs: list[Job] = []
        """The latest first."""
        self._done_bytes = 0

    def __len__(self) -> int:
        return len(self._jobs)

    def add(self, job: Job, done_bytes: int) -> None:
        self.see(done_bytes)
        self._jobs.insert(0, job)

    def remove(self, job: Job, done_bytes: int) -> None:
        """It is done, or given up: what is left of it is nobody's any more."""
        self.see(done_bytes)
        self._jobs.remove(job)

    def see(self, done_bytes: int) -> None:
        """So much has been done by now, all jobs that there ever were together."""
        new_bytes, self._done_bytes = done_bytes - self._done_bytes, done_bytes
        for job in sorted(self._jobs, key=_deadline_s):
            counted = min(job.left_bytes, new_bytes)
            job.left_bytes -= counted
            new_bytes -= counted

    @property
    def latest(self) -> Job | None:
        return self._jobs[0] if self._jobs else None

    @property
    def most_effort(self) -> float:
        return min(1.0, sum(job.most_effort for job in self._jobs))

    @property
    def are_hasty(self) -> bool:
        """Whether any is."""
        return any(job.is_hasty for job in self._jobs)

    def hurry(self, until_s: float) -> None:
        """What is due by then is in haste from now on: each of these jobs until it ends."""
        for job in self._jobs:
            job.is_hasty |= _deadline_s(job) <= until_s

    def due(self, now_s: float) -> tuple[int, float | None]:
        """What must be done, and by when; where there are several deadlines, by the one that asks
        for most. What has no deadline is due only where nothing else has one: at no time."""
        if all(job.deadline_s is None for job in self._jobs):
            return sum(job.left_bytes for job in self._jobs), None
        # Beside others nobody knows that it is done before it ends: some of that may be theirs.
        left_bytes = 0 if len(self._jobs) == 1 else 1
        most_bytes_per_s, found = -inf, (0, inf)
        for job in sorted(self._jobs, key=_deadline_s):
            left_bytes += job.left_bytes
            left_s = _deadline_s(job) - now_s
            bytes_per_s = left_bytes / left_s if left_s > 0 else inf
            if job.deadline_s is not None and bytes_per_s > most_bytes_per_s:
                most_bytes_per_s, found = bytes_per_s, (left_bytes, job.deadline_s)
        return found


def _deadline_s(job: Job) -> float:
    return inf if job.deadline_s is None else job.deadline_s
