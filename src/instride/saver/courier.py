"""The trainer's side of the line to the writer: starts it, feeds it, hears it, replaces it."""

from __future__ import annotations

import os
import queue
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from instride.errors import InstrideError, SaveFailedError, StoreInUseError
from instride.faults import reached
from instride.store.lock import started_at
from instride.store.retention import Keep
from instride.writer.page import SharedPage
from instride.writer.protocol import (
    VERSION,
    Begin,
    Blocked,
    Cancel,
    Close,
    Committed,
    Failed,
    Finish,
    Hello,
    Hurry,
    Notice,
    Ready,
    Refused,
    ToTrainer,
    ToWriter,
    Waiting,
    Wire,
)

MOST_RESTARTS = 3
PAUSE_S = 0.05
UNWANTED = {"LD_PRELOAD", "PYTHONPROFILEIMPORTTIME"}
"""What would make a small process large or slow."""


class Letter:
    """What goes to the writer for one save, kept until it is answered: it may have to go again."""

    def __init__(self, begin: Begin, answer: Callable[[Committed | InstrideError], None]) -> None:
        self.begin = begin
        self.finish: Finish | None = None
        self.answer = answer
        self.num_tries = 0
        self.is_cancelled = False
        self._settled = threading.Event()

    @property
    def is_settled(self) -> bool:
        """Answered, or never sent: the writer does not touch the arena for it any more."""
        return self._settled.is_set()

    def await_settled(self, timeout: float) -> bool:
        return self._settled.wait(timeout)

    def settle(self) -> None:
        self._settled.set()


class Courier:
    """One writer process, and the threads that talk to it and hear it.

    Nobody waits for the line but a thread of its own: a writer whose storage hangs does not read.
    """

    def __init__(
        self,
        directory: Path | None,
        keep: Keep,
        page: SharedPage,
        arena_fd: int,
        on_notice: Callable[[Notice], None],
    ) -> None:
        self.directory = directory
        self._keep = keep
        self._page = page
        self._arena_fd = arena_fd
        self._on_notice = on_notice
        self._lock = threading.RLock()
        self._open: dict[int, Letter] = {}
        self._settled = threading.Event()
        self._refused: InstrideError | None = None
        self._has_given_up = False
        self._closing = False
        self._num_failed_starts = 0
        self.is_blocked = False
        """The writer waits for space on the disk."""
        self.waits_for: int | None = None
        """The pid of a writer that still works for a dead trainer."""
        self.problem: str | None = None
        """Why nothing can be written into the store."""
        self._start()

    def _start(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        with theirs:
            # A process group of its own: Ctrl-C is the trainer's alone. Not a session: that would
            # be an autogroup of its own too, in which the idle class means nothing, as the
            # scheduler shares the machine between groups first.
            self._process = subprocess.Popen(
                [sys.executable, "-m", "instride.writer", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                process_group=0,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env=_environment(),
            )
        self._wire = Wire(ours, ToTrainer)
        self._outbound: queue.SimpleQueue[ToWriter | None] = queue.SimpleQueue()
        self.is_blocked = False
        pid = os.getpid()
        hello = Hello(
            VERSION,
            pid,
            started_at(pid) or 0,
            None if self.directory is None else str(self.directory),
            self._keep,
        )
        self._outbound.put(hello)
        line = (self._wire, self._outbound)
        threading.Thread(target=self._speak, args=line, daemon=True).start()
        threading.Thread(target=self._listen, args=(*line, self._process), daemon=True).start()

    def _speak(self, wire: Wire, outbound: queue.SimpleQueue[ToWriter | None]) -> None:
        while (message := outbound.get()) is not None:
            descriptors = [self._page.fd, self._arena_fd] if isinstance(message, Hello) else None
            try:
                wire.send(message, descriptors)
            except OSError:
                return  # the listener sees the same, and sends everything again to a new writer
            if isinstance(message, Finish):
                reached("sent")

    @property
    def writer_pid(self) -> int:
        return self._process.pid

    def await_ready(self, timeout: float | None) -> bool:
        """Wait until the writer owns the store. Raises StoreInUseError if somebody else does."""
        is_settled = self._settled.wait(timeout)
        if self._refused is not None:
            raise self._refused
        return is_settled

    def send_begin(self, letter: Letter) -> None:
        with self._lock:
            if self._has_given_up:
                self._try_again()
            self._open[letter.begin.id] = letter
            self._send(letter.begin)

    def send_finish(self, letter: Letter, finish: Finish) -> None:
        with self._lock:
            letter.finish = finish
            self._send(finish)

    def cancel(self, letter: Letter) -> None:
        """Nothing more will come for this save. The letter stays open until the writer says that
        it has let go of the arena: it fills in headers there."""
        with self._lock:
            letter.is_cancelled = True
            if letter.begin.id in self._open:
                self._send(Cancel(letter.begin.id))
            else:
                letter.settle()  # it was never sent

    def hurry(self) -> None:
        """Somebody waits: the writer need not yield any more to get done what it has."""
        with self._lock:
            self._send(Hurry())

    def _send(self, message: ToWriter) -> None:
        if self._refused is not None:
            self._drop_all(self._refused)
        else:
            self._outbound.put(message)

    def _listen(
        self,
        wire: Wire,
        outbound: queue.SimpleQueue[ToWriter | None],
        process: subprocess.Popen[bytes],
    ) -> None:
        while True:
            try:
                message = wire.receive()
            except OSError:
                message = None
            if message is None:
                break
            self._hear(message)
        process.wait()
        outbound.put(None)
        with self._lock:
            wire.close()
            if (
                self._wire is wire
                and self._refused is None
                and not (self._closing and not self._open)
            ):
                self._replace()

    def _hear(self, message: object) -> None:
        match message:
            case Ready():
                self._num_failed_starts = 0
                self.problem = message.directory_problem
                self.waits_for = None
                self._settled.set()
            case Waiting():
                self.waits_for = message.writer_pid
            case Refused():
                self._refused = StoreInUseError(
                    str(self.directory), message.host, message.trainer_pid
                )
                self._settled.set()
                self._drop_all(self._refused)
            case Committed():
                self._answer(message.id, message)
            case Failed():
                self._answer(message.id, SaveFailedError(message.path, message.why))
            case Blocked():
                self.is_blocked = message.is_blocked
            case Notice():
                self._on_notice(message)

    def _answer(self, id: int, answer: Committed | InstrideError) -> None:
        with self._lock:
            letter = self._open.pop(id, None)
        if letter is not None:
            self.is_blocked = False
            letter.settle()
            letter.answer(answer)

    def _drop_all(self, error: InstrideError) -> None:
        for id in list(self._open):
            self._answer(id, error)

    def _replace(self) -> None:
        """Start a new writer for one that died, and give it what was under way."""
        for letter in list(self._open.values()):
            letter.num_tries += 1
            is_over = letter.is_cancelled or letter.num_tries > MOST_RESTARTS
            if letter.begin.streams or is_over:
                why = "the process that writes was killed"
                self._answer(letter.begin.id, SaveFailedError(letter.begin.path, why))
        if self._closing and not self._open:
            return
        while self._num_failed_starts < MOST_RESTARTS:
            self._num_failed_starts += 1
            self._settled.clear()
            time.sleep(PAUSE_S * self._num_failed_starts)
            try:
                self._start()
            except OSError:
                continue  # no memory, no descriptors: it may pass
            self._send_again()
            return
        self._give_up()

    def _send_again(self) -> None:
        for letter in self._open.values():
            self._send(letter.begin)
            if letter.finish is not None:
                self._send(letter.finish)
        if self._closing:
            self._send(Close())

    def _give_up(self) -> None:
        why = "the process that writes ends as soon as it is started"
        self._refused = SaveFailedError(self.directory or "checkpoint", why)
        self._has_given_up = True
        self._settled.set()
        self._drop_all(self._refused)

    def _try_again(self) -> None:
        """What kept a writer from starting may have passed by the next save: one try each."""
        self._num_failed_starts = MOST_RESTARTS
        try:
            self._start()
        except OSError:
            return
        self._settled.clear()
        self._refused = None
        self._has_given_up = False

    def close(self) -> None:
        """Ask the writer to end once everything is committed; does not wait."""
        with self._lock:
            self._closing = True
            self._send(Close())

    def await_end(self, timeout: float | None) -> bool:
        """Wait for the process to be gone; it has released the store then."""
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            return False
        return True

    def close_in_child(self) -> None:
        """In a forked child: let go of the line, or the writer would never see it end."""
        self._wire.close()


def _environment() -> dict[str, str]:
    """The trainer's own; the writer finds modules where the trainer does."""
    kept = {name: value for name, value in os.environ.items() if name not in UNWANTED}
    return kept | {"PYTHONPATH": os.pathsep.join(str(Path(path).absolute()) for path in sys.path)}
