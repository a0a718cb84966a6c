"""Trainers by the hundred: one process has loaded torch, and a trainer is a fork of it."""

from __future__ import annotations

import os
import pickle
import signal
import socket
import subprocess
import sys
import traceback
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
MOST_BYTES = 1 << 16
PATIENCE_S = 90.0
"""For machines that are busy with other things; nothing here takes a second by itself."""


class Training:
    """A trainer that runs in a process of its own, as the test sees it."""

    def __init__(self, pid: int, line: Connection, zygote: Zygote) -> None:
        self.pid = pid
        self._line = line
        self._zygote = zygote

    def hear(self) -> Any:
        """What it says next; EOFError if it is gone."""
        assert self._line.poll(PATIENCE_S), "the training says nothing"
        return self._line.recv()

    def hear_all(self) -> list[Any]:
        """Everything that it says until it ends."""
        said = []
        while True:
            try:
                said.append(self.hear())
            except (EOFError, ConnectionError):
                return said

    def tell(self, word: object = None) -> None:
        self._line.send(word)

    def kill(self) -> int:
        os.kill(self.pid, signal.SIGKILL)
        return self.wait()

    def wait(self) -> int:
        """How it ended: 0, or minus the number of the signal."""
        status = self._zygote.wait(self.pid)
        self._line.close()
        return status


class Zygote:
    """The process that trainers are forked from."""

    def __init__(self) -> None:
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.crash.zygote", str(theirs.fileno())],
                pass_fds=[theirs.fileno()],
                cwd=ROOT,
            )

    def start(
        self, function: str, *, faults: str = "", once: Path | None = None, **kwargs: Any
    ) -> Training:
        """Run a function of `tests.crash.trainings` in a process of its own."""
        ours, theirs = Pipe()
        order = pickle.dumps((function, faults, "" if once is None else str(once), kwargs))
        socket.send_fds(self._line, [order], [theirs.fileno()])
        theirs.close()
        return Training(int(self._line.recv(MOST_BYTES)), ours, self)

    def wait(self, pid: int) -> int:
        self._line.send(pickle.dumps(pid))
        return int(self._line.recv(MOST_BYTES))

    def close(self) -> None:
        self._line.close()
        self._process.wait(PATIENCE_S)


def serve(line: socket.socket) -> None:
    """Fork a trainer for each order, or wait for one to end."""
    while True:
        data, descriptors, _, _ = socket.recv_fds(line, MOST_BYTES, 1)
        if not data:
            return
        order = pickle.loads(data)  # our own test's
        if isinstance(order, int):
            _, status = os.waitpid(order, 0)
            line.send(str(os.waitstatus_to_exitcode(status)).encode())
            continue
        pid = os.fork()
        if pid == 0:
            line.close()
            _train(Connection(descriptors[0]), *order)
        os.close(descriptors[0])
        line.send(str(pid).encode())


def _train(line: Connection, function: str, faults: str, once: str, kwargs: Any) -> None:
    import instride.faults
    from tests.crash import trainings

    os.environ[instride.faults.VARIABLE] = faults
    os.environ[instride.faults.ONCE] = once
    instride.faults.arm()
    status = 1
    try:
        getattr(trainings, function)(line, **kwargs)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    import tests.crash.trainings  # noqa: F401 - once, for all that are forked

    serve(socket.socket(fileno=int(sys.argv[1])))
