"""The queue of the writer: one save after the other, whatever becomes of each."""

from __future__ import annotations

import errno
import os
import queue
import socket
import sys
import threading
import time
import traceback
from contextlib import suppress
from math import inf

from instride.writer.arena import ArenaMap
from instride.writer.committing import Commits, Outcome
from instride.writer.deleting import Deleting
from instride.writer.hands import Crew
from instride.writer.jobs import Jobs
from instride.writer.owning import Ownership
from instride.writer.packs import Packs, Spoilt
from instride.writer.pieces import StreamEndedError
from instride.writer.protocol import (
    Committed,
    Failed,
    Finish,
    Hello,
)
from instride.writer.room import Room
from instride.writer.swapping import Draft
from instride.writer.telling import Told, why_of
from instride.writer.tidying import Tidying
from instride.writer.writing import Job

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
        deleting: Deleting,
        ownership: Ownership | None,
        packs: Packs,
        inbox: Inbox,
    ) -> None:
        self._commits = commits
        self._crew = crew
        self._packs = packs
        self._deleting = deleting
        self._tidying = Tidying(commits, told, deleting)
        self._last_begun_s: float | None = None
        self._arena = arena
        self._told = told
        self._ownership = ownership
        self._jobs = Jobs(crew)
        self._inbox = inbox
        self._leaving = threading.Event()
        self._room = Room(commits, packs, told, deleting, self._leaving)
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
        with self._deleting.noted():
            self._commits.sweep().tell(self._told.note)

    def add(self, job: Job) -> None:
        self._jobs.add(job)
        self._packs.pause()
        if self._tidying.is_going:
            self._crew.hurry()  # a snapshot should not wait for the one before to be read back
        # Only now: what is done for the one before must not be done to this one.
        self._inbox.put(job)

    def finish(self, message: Finish) -> None:
        job = self._jobs.get(message.id)
        if job is not None:
            self._told.note(
                "call", message.called_s, id=message.id, step=message.step, s=message.call_s,
                waited_s=message.waited_s,
            )  # fmt: skip
            job.settle(message)

    def cancel(self, id: int) -> None:
        if (job := self._jobs.get(id)) is not None:
            job.settle(None)

    def hurry(self, id: int) -> None:
        """Somebody waits for that save, if it is still under way."""
        self._jobs.hurry(id)

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
        for job in self._jobs.all():
            job.settle(None)

    def drain(self) -> None:
        """Wait until everything that was staged is committed, or has failed."""
        self._inbox.put(None)
        self._thread.join()

    def _work(self) -> None:
        try:
            self._handle_all()
        except BaseException:
            # Nobody would save what is still to come. Another writer will: the trainer starts it
            # when this one is gone, and sends again what is under way.
            end_at_once()

    def _handle_all(self) -> None:
        while (item := self._inbox.get()) is not None:
            self._handle(item)
        self._packs.go_on()
        while self._packs.is_busy and (item := self._inbox.get()) is not None:
            self._handle(item)

    def _handle(self, item: Job | Draft | Spoilt) -> None:
        if isinstance(item, Job):
            self._packs.pause()
            self._save_or_fail(item)
            self._packs.wake()
        else:
            self._packs.take(item)
        if self._inbox.empty():
            self._packs.go_on()

    def _save_or_fail(self, job: Job) -> None:
        """One save that fails, in whatever way, must not end all that follow."""
        try:
            self._save_with_patience(job)
        except Exception as error:
            if job.is_answered:
                self._told.note("tidy-failed", path=job.begin.path, why=why_of(error))
            else:
                self._fail(job, error)
        finally:
            self._jobs.end(job)

    def _save_with_patience(self, job: Job) -> None:
        self._jobs.relax()  # a hurry that came late for the one before is over
        self._crew.deadline_s = self._deadline_s()
        patience = threading.Timer(PATIENCE_S, self._crew.hurry)
        patience.daemon = True
        with suppress(RuntimeError):  # no more threads are allowed: the save may do without
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
            self._jobs.relax()

    def _deadline_s(self) -> float:
        """Half-way to when the next save is to be expected, so that it finds the arena free."""
        now_s = time.monotonic()
        last_s, self._last_begun_s = self._last_begun_s, now_s
        between_s = inf if last_s is None else now_s - last_s
        return now_s + min(PATIENCE_S, between_s / 2)

    def _save(self, job: Job) -> Outcome | None:
        """Commit a snapshot; None if that failed, and the trainer knows."""
        begin = job.begin
        try:
            outcome = self._room.commit(job, self._commit)
        except StreamEndedError:
            why = "not all of it was staged"
            self._told.note("dropped", path=begin.path, why=why)
            self._answer(job, Failed(begin.id, begin.path, why, None))
            return None
        except Exception as error:
            self._fail(job, error)
            return None
        finally:
            self._jobs.end(job)
        self._told.note(
            "durable", id=begin.id, path=begin.path, bytes=outcome.size_bytes,
            s=outcome.durable_s, staged_s=outcome.staged_s, direct=outcome.is_direct,
        )  # fmt: skip
        self._answer(
            job,
            Committed(
                begin.id, begin.path, outcome.size_bytes, outcome.staged_s, outcome.durable_s
            ),
        )
        return outcome

    def _commit(self, job: Job) -> Outcome:
        if self._ownership is not None and self._ownership.ensure():
            self._sweep()
        return self._commits.commit(job, self._arena.view(job.begin.arena_bytes))

    def _fail(self, job: Job, error: Exception) -> None:
        id, path = job.begin.id, job.begin.path
        is_of_system = isinstance(error, OSError)
        why = why_of(error) if is_of_system else f"{type(error).__name__}: {error}"
        code = error.errno if isinstance(error, OSError) else None
        name = errno.errorcode.get(code, "") if code is not None else ""
        self._told.note("failed", id=id, path=path, why=why, errno=name)
        self._answer(job, Failed(id, path, why, code))

    def _answer(self, job: Job, answer: Committed | Failed) -> None:
        self._told.tell(answer)
        job.is_answered = True


def end_at_once() -> None:
    """End the process, and say why."""
    try:
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(1)
