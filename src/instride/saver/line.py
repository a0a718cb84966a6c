"""The line to one writer process, and the threads at our end of it."""

from __future__ import annotations

import errno
import os
import queue
import select
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress

from instride.faults import reached
from instride.saver.starting import start_writer
from instride.system.descriptors import above_standard
from instride.writer.protocol import Finish, Hello, ToTrainer, ToWriter, Wire, frame_of

MOST_BYTES = 4096


class Line:
    """Starts a writer, speaks to it and hears it.

    Nobody waits for the line but a thread of its own: a writer whose storage hangs does not read.
    """

    def __init__(
        self,
        hello: Hello,
        descriptors: list[int],
        hear: Callable[[ToWriter | ToTrainer], None],
        on_end: Callable[[Line], None],
    ) -> None:
        self._descriptors = descriptors
        self._hear = hear
        self._on_end = on_end
        self._outbound: queue.SimpleQueue[tuple[ToWriter, bytes] | None] = queue.SimpleQueue()
        self.send(hello)
        self.last_words = ""
        with above_standard(), ExitStack() as undoing:
            memory = os.memfd_create("instride-writer-errors", os.MFD_CLOEXEC)
            self._errors = undoing.enter_context(os.fdopen(memory, "rb"))
            self.process, ours = start_writer(self._errors.fileno())
            undoing.callback(self.process.wait)
            undoing.callback(self.process.kill)
            self.wire = Wire(undoing.enter_context(ours), ToTrainer)
            self._pidfd = os.pidfd_open(self.process.pid)
            undoing.callback(os.close, self._pidfd)
            self._undoing = undoing.pop_all()

    def open(self) -> None:
        """Begin to speak and to hear; from here on the end of the writer is told. Raises OSError
        where there can be no more threads, and takes the writer back."""
        try:
            threading.Thread(target=self._speak, daemon=True).start()
            threading.Thread(target=self._listen, daemon=True).start()
        except RuntimeError as error:
            self._outbound.put(None)
            self._undoing.close()
            raise OSError(errno.EAGAIN, str(error)) from error

    def send(self, message: ToWriter) -> None:
        """Have it sent. What cannot be said is raised here, where somebody knows what it is of."""
        self._outbound.put((message, frame_of(message)))

    def _speak(self) -> None:
        while (item := self._outbound.get()) is not None:
            message, frame = item
            try:
                self.wire.send_frame(
                    frame, self._descriptors if isinstance(message, Hello) else None
                )
            except OSError:
                return  # the listener sees the same, and sends everything again to a new writer
            if isinstance(message, Finish):
                reached("sent")

    def _listen(self) -> None:
        try:
            for message in self._messages():
                self._hear(message)
        except BaseException:
            # Nobody would hear it any more: another one is to start, and to get what is open.
            self.process.kill()
            raise
        finally:
            self._end()

    def _end(self) -> None:
        self.process.wait()
        os.close(self._pidfd)
        self.last_words = _last_line(self._errors.fileno())
        self._errors.close()
        self._outbound.put(None)
        self._on_end(self)

    def _messages(self) -> Iterator[ToWriter | ToTrainer]:
        """Everything that the writer says until it is gone: a child that was forked while it was
        started may hold its end of the line for ever."""
        poll = select.poll()
        poll.register(self.wire.socket, select.POLLIN)
        poll.register(self._pidfd, select.POLLIN)
        is_gone = False
        while not is_gone:
            is_gone = any(fd == self._pidfd for fd, _ in poll.poll())
            try:
                while self.wire.read_ready():
                    yield from self.wire.taken_in()
            except (EOFError, OSError):
                return

    def await_end(self, timeout: float | None) -> bool:
        """Wait for the process to be gone."""
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            return False
        return True

    def close(self) -> None:
        """Let go of our end, also where the other one is held by somebody who never reads."""
        with suppress(OSError):
            self.wire.socket.shutdown(socket.SHUT_RDWR)
        self.wire.close()

    def close_in_child(self) -> None:
        """In a forked child, or the writer would never see our end close; it goes on for others."""
        self.wire.close()


def _last_line(fd: int) -> str:
    """What a writer that ended by an exception said at last: the place in the file is its own."""
    size = os.fstat(fd).st_size
    lines = os.pread(fd, MOST_BYTES, max(0, size - MOST_BYTES)).decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")
