"""The queue of the writer: one save after the other, with patience when the disk is full."""

from __future__ import annotations

import errno
import os
import queue
import socket
import threading
import time
from math import inf
from pathlib import Path

from instride.writer.arena import ArenaMap
from instride.writer.committing import FULL, Commits, Outcome
from instride.writer.hands import Crew
from instride.writer.owning import Ownership
from instride.writer.packs import Packs, Spoilt
from instride.writer.pieces import StreamEndedError
from instride.writer.protocol import (
    Blocked,
    Committed,
    Failed,
    Finish,
    Hello,
)
from instride.writer.swapping import Draft
from instride.writer.telling import Told
from instride.writer.tidying import Tidying
from instride.writer.writing import Job

RETRY_S = 2.0
PATIENCE_S = 60.0
"""On a machine that is never idle, threads that only yield would never end: after this they get
help. A checkpoint that is not durable protects nobody."""

Inbox = queue.SimpleQueue[Job | Draft | Spoilt | None]
"""Saves, packs that are ready, and None at the end of all."""


class Work:
    def __init__(
        self,
        commits: Commits,
        crew: Crew,
        arena: ArenaMap,
        told: Told,
        ownership: Ownership | None,
        packs: Packs,
        inbox: Inbox,
    ) -> None:
        self._commits = commits
        self._crew = crew
        self._packs = packs
        self._tidying = Tidying(commits, told)
        self._is_awaited = False
        self._last_begun_s: float | None = None
        self._arena = arena
        self._told = told
        self._ownership = ownership
        self._jobs: dict[int, Job] = {}
        self._inbox = inbox
        self._leaving = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def announce(self, hello: Hello) -> None:
        self._told.note(
            "start",
            host=socket.gethostname(),
            trainer_pid=hello.trainer_pid,
            trainer_started=hello.trainer_started,
            writer_pid=os.getpid(),
        )
        self._sweep()

    def _sweep(self) -> None:
        swept = self._commits.sweep()
        if swept:
            self._told.note("swept", names=swept)

    def add(self, job: Job) -> None:
        self._jobs[job.begin.id] = job
        self._inbox.put(job)
        self._packs.pause()
        if self._tidying.is_going:
            self._crew.hurry()  # a snapshot should not wait for the one before to be read back

    def finish(self, message: Finish) -> None:
        job = self._jobs.get(message.id)
        if job is not None:
            self._told.note(
                "call", message.called_s, id=message.id, step=message.step, s=message.call_s,
                waited_s=message.waited_s,
            )  # fmt: skip
            job.settle(message)

    def cancel(self, id: int) -> None:
        if id in self._jobs:
            self._jobs[id].settle(None)

    def hurry(self) -> None:
        """Somebody waits for what is under way: compete for the machine until it is committed."""
        self._is_awaited = True
        self._crew.hurry()

    def leave(self) -> None:
        """Nothing more will come, and somebody waits for the end."""
        self._leaving.set()
        self._crew.hurry(for_good=True)
        self._packs.hurry()

    def give_up(self, why: str) -> None:
        """Nothing more will come: what was not staged in full is dropped."""
        if not self._leaving.is_set():
            self._packs.give_up()  # nobody waits for the end: another training may
        self.leave()
        self._told.note("end", why=why)
        for job in list(self._jobs.values()):
            job.settle(None)

    def drain(self) -> None:
        """Wait until everything that was staged is committed, or has failed."""
        self._inbox.put(None)
        self._thread.join()

    def _work(self) -> None:
        while (item := self._inbox.get()) is not None:
            self._handle(item)
        self._packs.go_on()
        while self._packs.is_busy and (item := self._inbox.get()) is not None:
            self._handle(item)

    def _handle(self, item: Job | Draft | Spoilt) -> None:
        if isinstance(item, Job):
            self._packs.pause()
            self._save_with_patience(item)
            self._packs.wake()
        else:
            self._packs.take(item)
        if self._inbox.empty():
            self._packs.go_on()

    def _save_with_patience(self, job: Job) -> None:
        self._crew.deadline_s = self._deadline_s()
        patience = threading.Timer(PATIENCE_S, self._crew.hurry)
        patience.daemon = True
        patience.start()
        try:
            outcome = self._save(job)
            if self._crew.is_steady:
                patience.cancel()  # what is durable may be read back at leisure
            if outcome is not None:
                self._crew.deadline_s = None
                self._tidying.after(outcome)
        finally:
            patience.cancel()
            self._relax()

    def _deadline_s(self) -> float:
        """Half-way to when the next save is to be expected, so that it finds the arena free."""
        now_s = time.monotonic()
        last_s, self._last_begun_s = self._last_begun_s, now_s
        between_s = inf if last_s is None else now_s - last_s
        return now_s + min(PATIENCE_S, between_s / 2)

    def _relax(self) -> None:
        if not self._is_awaited:
            self._crew.relax()

    def _save(self, job: Job) -> Outcome | None:
        """Commit a snapshot; None if that failed, and the trainer knows."""
        begin = job.begin
        try:
            outcome = self._commit_when_there_is_room(job)
        except StreamEndedError:
            why = "not all of it was staged"
            self._told.note("dropped", path=begin.path, why=why)
            self._told.tell(Failed(begin.id, begin.path, why, None))
            return None
        except OSError as error:
            self._fail(job, error.strerror or str(error), error.errno)
            return None
        except Exception as error:  # one save that fails must not end all that follow
            self._fail(job, f"{type(error).__name__}: {error}", None)
            return None
        finally:
            del self._jobs[begin.id]
            self._is_awaited = False
            self._relax()
        self._told.note(
            "durable", id=begin.id, path=begin.path, bytes=outcome.size_bytes,
            s=outcome.durable_s, staged_s=outcome.staged_s, direct=outcome.is_direct,
        )  # fmt: skip
        self._told.tell(
            Committed(begin.id, begin.path, outcome.size_bytes, outcome.staged_s, outcome.durable_s)
        )
        return outcome

    def _commit_when_there_is_room(self, job: Job) -> Outcome:
        while True:
            try:
                if self._ownership is not None and self._ownership.ensure():
                    self._sweep()
                outcome = self._commits.commit(job, self._arena.view(job.begin.arena_bytes))
            except OSError as error:
                if error.errno not in FULL or job.begin.streams:
                    raise
                if not self._find_room(job, error):
                    raise
                continue
            self._told.tell(Blocked(job.begin.id, False))
            return outcome

    def _find_room(self, job: Job, error: OSError) -> bool:
        """After a full disk: delete what retention allows, else wait; False when time is up."""
        self._told.note("full", path=job.begin.path)
        if self._packs.abandon():
            return True
        deleted = self._commits.make_room()
        if deleted:
            self._told.note(
                "deleted", names=[path.name for path in deleted], why="the disk is full"
            )
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

    def _fail(self, job: Job, why: str, code: int | None) -> None:
        name = errno.errorcode.get(code, "") if code is not None else ""
        self._told.note("failed", id=job.begin.id, path=job.begin.path, why=why, errno=name)
        self._told.tell(Failed(job.begin.id, job.begin.path, why, code))
