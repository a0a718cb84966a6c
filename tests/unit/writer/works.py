"""A writer's queue in this process, or a whole writer beside it, without a training or torch."""

from __future__ import annotations

import fcntl
import os
import socket
import subprocess
import termios
import time
from collections.abc import Callable
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from instride.saver.starting import start_writer
from instride.store.lock import started_at
from instride.store.manifest import PIECE_BYTES
from instride.store.retention import Keep
from instride.system.striped import NUM_FILES, make_files, resize
from instride.writer.arena import ArenaMap
from instride.writer.committing import Commits
from instride.writer.deleting import Deleting
from instride.writer.hands import Crew
from instride.writer.packs import Packs
from instride.writer.page import SharedPage
from instride.writer.protocol import (
    VERSION,
    Begin,
    Cancel,
    Finish,
    Hello,
    ToTrainer,
    ToWriter,
    Wire,
    frame_of,
)
from instride.writer.telling import Told
from instride.writer.working import Inbox, Work
from instride.writer.writing import Job

PATIENCE_S = 60.0
NUM_BYTES = PIECE_BYTES + 1000


class Heard(Told):
    """Keeps what the writer says, in order."""

    def __init__(self) -> None:
        with socket.socket(socket.AF_UNIX) as nobody:
            super().__init__(Wire(nobody, ToWriter), None)
        self.notes: list[tuple[str, dict[str, Any]]] = []
        self.messages: SimpleQueue[ToTrainer] = SimpleQueue()

    def note(self, kind: str, at_s: float | None = None, /, **fields: Any) -> None:
        self.notes.append((kind, fields))

    def tell(self, message: ToTrainer) -> None:
        self.messages.put(message)

    def all_of(self, kind: str) -> list[dict[str, Any]]:
        return [fields for noted, fields in self.notes if noted == kind]

    def hear(self, *types: type) -> Any:
        """The next message of these types."""
        while not isinstance(message := self.messages.get(timeout=PATIENCE_S), types):
            pass
        return message


class NotedCrew(Crew):
    num_looked_anew = 0
    num_hurried = 0

    def look_anew(self) -> None:
        self.num_looked_anew += 1
        super().look_anew()

    def hurry(self, *, for_good: bool = False) -> None:
        self.num_hurried += 1
        super().hurry(for_good=for_good)


def begin(store: Path, step: int) -> Begin:
    path = store / f"step_{step:08d}.pt"
    return Begin(
        step, str(path), None, NUM_BYTES, -(-NUM_BYTES // PIECE_BYTES) * PIECE_BYTES, False
    )


def finish(step: int) -> Finish:
    now_s = time.monotonic()
    return Finish(step, {}, step, None, [], {}, time.time(), now_s, now_s, 0.0, 0.0)


def staged(store: Path, step: int) -> Job:
    """A snapshot of which all has come."""
    job = Job(begin(store, step))
    job.settle(finish(step))
    return job


def arena_files() -> tuple[int, ...]:
    fds = make_files("instride-test", NUM_FILES)
    resize(fds, 2 * PIECE_BYTES)
    return fds


def work_for(
    store: Path,
    told: Told,
    crew: Crew | None = None,
    keep: Keep | None = None,
    *,
    commits: Callable[..., Commits] = Commits,
) -> Work:
    """The queue as a writer has it."""
    crew, keep, page = crew or Crew(), keep or Keep(), SharedPage.create()
    inbox: Inbox = SimpleQueue()
    packs = Packs(None, keep, page, crew, told, None, inbox.put)
    deleting = Deleting(store, crew, told)
    arena = ArenaMap(arena_files())
    made = commits(store, keep, page, crew)
    return Work(made, crew, arena, told, deleting, None, packs, inbox)


class Trainer:
    """Somebody with a writer of their own, who can be killed while we hold their end of the line,
    as a child would that they have forked."""

    def __init__(self, store: Path, *, packs: bool = False) -> None:
        self.store = store
        self.process = subprocess.Popen(["sleep", "1000"])
        self._errors = os.memfd_create("instride-test-errors")
        self.writer, end = start_writer(self._errors)
        end.settimeout(PATIENCE_S)
        self.wire = Wire(end, ToTrainer)
        self._page = SharedPage.create()
        pid = self.process.pid
        hello = Hello(VERSION, pid, started_at(pid) or 0, str(store), Keep(), packs)
        self.wire.send(hello, [self._page.fd, *(fds := arena_files())])
        for fd in fds:
            os.close(fd)

    def hear(self, *types: type) -> Any:
        """The next message of these types."""
        while (message := self.wire.receive()) is not None:
            if isinstance(message, types):
                return message
        raise EOFError("the writer is gone")

    def save(self, step: int) -> None:
        self.wire.send(begin(self.store, step))
        self.wire.send(finish(step))

    def give_up(self, step: int) -> None:
        self.wire.send(begin(self.store, step))
        self.wire.send(Cancel(step))

    def send_half(self, message: ToWriter) -> None:
        """Returns when the writer has taken that in."""
        frame = frame_of(message)
        self.wire.socket.sendall(frame[: len(frame) // 2])
        while any(fcntl.ioctl(self.wire.socket, termios.TIOCOUTQ, bytes(4))):
            pass

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def end(self) -> None:
        """Leave nothing behind, whatever the test has found."""
        self.kill()
        self.wire.close()
        self.writer.kill()
        self.writer.wait()
        self._page.close()
        os.close(self._errors)
