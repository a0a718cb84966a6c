"""The trainer's side of the line to the writer: starts it, feeds it, hears it, replaces it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from instride.errors import InstrideError, SaveFailedError
from instride.errors.saving import hint_by
from instride.saver.claim import Claim
from instride.saver.letter import Letter
from instride.saver.line import Line
from instride.saver.options import Options
from instride.store.lock import in_use, started_at
from instride.writer.page import SharedPage
from instride.writer.protocol import (
    VERSION,
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
    ToWriter,
    Waiting,
)

MOST_RESTARTS = 3
PAUSE_S = 0.05


class Courier:
    """One writer process at a time, and what is under way to it."""

    def __init__(
        self,
        directory: Path | None,
        options: Options,
        page: SharedPage,
        arena_fds: Sequence[int],
        on_notice: Callable[[Notice], None],
    ) -> None:
        self.directory = directory
        self._options = options
        self._page = page
        self._arena_fds = arena_fds
        self._on_notice = on_notice
        self._lock = threading.RLock()
        self._open: dict[int, Letter] = {}
        self.claim = Claim()
        self._has_given_up = False
        self._closing = False
        self._num_failed_starts = 0
        self.is_blocked = False
        """The writer waits for space on the disk."""
        self._start()

    def _start(self) -> None:
        pid = os.getpid()
        hello = Hello(
            VERSION,
            pid,
            started_at(pid) or 0,
            None if self.directory is None else str(self.directory),
            self._options.keep,
            self._options.packs,
            self._options.budget,
        )
        self._line = Line(hello, [self._page.fd, *self._arena_fds], self._hear, self._on_end)
        self.is_blocked = False
        self._line.open()

    @property
    def writer_pid(self) -> int:
        return self._line.process.pid

    def send_begin(self, letter: Letter) -> None:
        with self._lock:
            if letter.is_cancelled:
                return
            if self._has_given_up:
                self._try_again()
            self._open[letter.begin.id] = letter
            try:
                self._send(letter.begin)
            except Exception:
                del self._open[letter.begin.id]  # there is nothing that could be answered
                raise

    def send_finish(self, letter: Letter, finish: Finish) -> None:
        with self._lock:
            if not letter.is_cancelled:
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

    def hurry(self, id: int) -> None:
        """Somebody waits for that save: the writer need not yield any more to get it done."""
        with self._lock:
            letter = self._open.get(id)
            if letter is not None:  # else it is answered, or whoever sends it will say so
                letter.is_awaited = True
                self._send(Hurry(id))

    def _send(self, message: ToWriter) -> None:
        if self.claim.refusal is not None:
            self._drop_all(self.claim.refusal)
        else:
            self._line.send(message)

    def _on_end(self, line: Line) -> None:
        with self._lock:
            line.close()
            is_expected = self._closing and not self._open
            if self._line is line and self.claim.refusal is None and not is_expected:
                try:
                    self._replace()
                except Exception as error:  # else nobody would be left to answer
                    self._give_up(f"{type(error).__name__}: {error}")

    def _hear(self, message: object) -> None:
        match message:
            case Ready():
                self._num_failed_starts = 0
                self.claim.grant(message)
            case Waiting():
                self.claim.waits_for = message.writer_pid
            case Refused():
                assert self.directory is not None  # else there is nothing to be had
                self._refuse(in_use(self.directory, message))
            case Committed():
                self._answer(message.id, message)
            case Failed():
                hint = hint_by(message.errno)
                self._answer(message.id, SaveFailedError(message.path, message.why, hint=hint))
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

    def _refuse(self, why: InstrideError) -> None:
        """There is nobody to write, now or later."""
        self.claim.refuse(why)
        self._drop_all(why)

    def _drop_all(self, error: InstrideError) -> None:
        for id in list(self._open):
            self._answer(id, error)

    def _replace(self) -> None:
        """Start a new writer for one that died, and give it what was under way."""
        for letter in list(self._open.values()):
            letter.num_tries += 1
            is_over = letter.is_cancelled or letter.num_tries > MOST_RESTARTS
            if letter.begin.streams or is_over:
                why = _how_it_ended(self._line)
                self._answer(letter.begin.id, SaveFailedError(letter.begin.path, why))
        if self._closing and not self._open:
            return
        because = self._line.last_words
        while self._num_failed_starts < MOST_RESTARTS:
            self._num_failed_starts += 1
            self.claim.ask_anew()
            time.sleep(PAUSE_S * self._num_failed_starts)
            try:
                self._start()
            except OSError as error:  # no memory, no descriptors, no threads: it may pass
                because = str(error)
                continue
            self._send_again()
            return
        self._give_up(because)

    def _send_again(self) -> None:
        for letter in self._open.values():
            self._send(letter.begin)
            if letter.is_awaited:
                self._send(Hurry(letter.begin.id))
            if letter.finish is not None:
                self._send(letter.finish)
        if self._closing:
            self._send(Close())

    def _give_up(self, because: str) -> None:
        why = "the process that writes ends as soon as it is started"
        if because:
            why += f": {because}"
        self._has_given_up = True
        self._refuse(SaveFailedError(self.directory or "checkpoint", why))

    def _try_again(self) -> None:
        """What kept a writer from starting may have passed by the next save: one try each."""
        refusal = self.claim.refusal
        assert refusal is not None  # else it was not given up
        self._num_failed_starts = MOST_RESTARTS
        self.claim.ask_anew()
        try:
            self._start()
        except OSError:
            self.claim.refuse(refusal)
        else:
            self._has_given_up = False

    def close(self) -> None:
        """Ask the writer to end once everything is committed; does not wait."""
        with self._lock:
            self._closing = True
            self._send(Close())

    def await_end(self, timeout: float | None) -> bool:
        """Wait for the process to be gone; it has released the store then."""
        return self._line.await_end(timeout)

    def close_in_child(self) -> None:
        """In a forked child: let go of the line."""
        self._line.close_in_child()


def _how_it_ended(line: Line) -> str:
    if line.last_words:
        return f"the process that writes ended: {line.last_words}"
    return "the process that writes was killed"
