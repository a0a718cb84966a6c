"""A commit with patience: on a full disk room is made, or waited for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from instride.writer.committing import FULL, Commits, Outcome
from instride.writer.deleting import Deleting
from instride.writer.packs import Packs
from instride.writer.protocol import Blocked
from instride.writer.telling import Told
from instride.writer.writing import Job

RETRY_S = 2.0


class Room:
    def __init__(
        self,
        commits: Commits,
        packs: Packs,
        told: Told,
        deleting: Deleting,
        leaving: threading.Event,
    ) -> None:
        """`leaving` is set when somebody waits for the end."""
        self._commits = commits
        self._packs = packs
        self._told = told
        self._deleting = deleting
        self._leaving = leaving

    def commit(self, job: Job, commit_now: Callable[[Job], Outcome]) -> Outcome:
        """Try until there is room. Raises what is wrong otherwise."""
        while True:
            try:
                outcome = commit_now(job)
            except OSError as error:
                if error.errno not in FULL or job.begin.streams:
                    raise
                if not self._find(job, error):
                    raise
                continue
            self._told.tell(Blocked(job.begin.id, False))
            return outcome

    def _find(self, job: Job, error: OSError) -> bool:
        """After a full disk: delete what retention allows, else wait; False when time is up."""
        self._told.note("full", path=job.begin.path)
        with self._deleting.noted(why="the disk is full"):
            if self._packs.abandon() or self._commits.make_room():
                return True
        if self._leaving.is_set():
            return False
        self._told.tell(Blocked(job.begin.id, True))
        self._told.notice(
            "disk-full",
            f"no space for `{job.begin.path}`: {error.strerror}; training goes on, and the save "
            "is tried again until there is room",
            f"`df -h {Path(job.begin.path).parent}` shows the disk",
        )
        # Woken early when somebody waits for the end.
        self._leaving.wait(RETRY_S)
        return True
