"""Processes that compress the file: started, stopped, let go on, and watched for their end."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid
from contextlib import suppress
from pathlib import Path

import msgspec

from instride.bench.interference.names import ELSEWHERE, IDLE, NAIVE, NICE, OURS
from instride.bench.memory import VARIABLE, memory_bytes, processes_with
from instride.places import PRIVATE
from instride.system.cores import usable_cores

NAIVE_MODULE = "instride.bench.interference.naive"
LEAST_NICE = 19
STAMP = re.compile(r"^[-0-9]+ [:0-9]+ ")
"""The time, before each line of the agent that goes to a file."""


class Manner(msgspec.Struct, frozen=True):
    """How the naive program is run."""

    nice: int = 0
    is_idle: bool = False
    has_own_session: bool = False


MANNERS = {
    NAIVE: Manner(),
    NICE: Manner(nice=LEAST_NICE),
    ELSEWHERE: Manner(nice=LEAST_NICE, has_own_session=True),
    IDLE: Manner(is_idle=True),
}


class Rival:
    """Compresses the file again and again, while it is let."""

    def __init__(self, name: str, file: Path, log: Path) -> None:
        self._name = name
        self._file = file
        self._log = log
        self._mark = uuid.uuid4().hex
        self._process: subprocess.Popen[str] | None = None
        self._listener: threading.Thread | None = None
        self._is_going = False
        self._lock = threading.Lock()
        self._resumed_s = 0.0
        self._done = threading.Event()
        self.worked_s = 0.0
        """Up to the last time that it was told to stand still."""
        self.finish_s: float | None = None
        self.said: str | None = None
        self.failed: str | None = None
        """How it ended, if that was with an error: what it did then says nothing."""
        self.peak_bytes = 0

    def resume(self) -> None:
        """Work from now on."""
        with self._lock:
            self._is_going = True
            self._resumed_s = time.monotonic()
            if self._process is None:
                self._start()
            else:
                self._signal(signal.SIGCONT)

    def suspend(self) -> None:
        """Stand still from now on."""
        with self._lock:
            self._is_going = False
            self.worked_s += time.monotonic() - self._resumed_s
            self._signal(signal.SIGSTOP)
        self._measure_memory()

    def await_done(self, limit_s: float) -> None:
        """Wait until the file was compressed once, if that is soon."""
        end_s = time.monotonic() + limit_s
        while not self._done.wait(0.5) and time.monotonic() < end_s:
            self._measure_memory()

    def end(self) -> None:
        with self._lock:
            self._is_going = False
            process, self._process = self._process, None
            if process is not None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        if self._listener is not None:
            self._listener.join()
        self._clean()

    def _start(self) -> None:
        is_elsewhere = self._name == OURS or MANNERS[self._name].has_own_session
        self._process = subprocess.Popen(
            self._command(),
            env={**os.environ, VARIABLE: self._mark},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=is_elsewhere,
            process_group=None if is_elsewhere else 0,
        )
        self._listener = threading.Thread(target=self._listen, args=(self._process,), daemon=True)
        self._listener.start()

    def _command(self) -> list[str]:
        if self._name == OURS:
            folder, log = str(self._file.parent), str(self._log)
            agent = ["agent", folder, "--once", "--compress", "--log", log]
            return [sys.executable, "-m", "instride", *agent]
        manner = MANNERS[self._name]
        numbers = [usable_cores(), manner.nice, int(manner.is_idle)]
        return [sys.executable, "-m", NAIVE_MODULE, str(self._file), *map(str, numbers)]

    def _listen(self, process: subprocess.Popen[str]) -> None:
        """Hear when the file is done: a line of the naive program, the end of the agent."""
        assert process.stdout is not None
        last = None
        with process.stdout as lines:
            for line in lines:
                last = STAMP.sub("", line.strip())
                if self._name != OURS:
                    self._note_done(None)
        code = process.wait()
        if code == 0:
            self._note_done(last)
        with self._lock:
            if code and self._process is process:
                self.failed = f"`{self._name}` ended with status {code}: {last or 'no word'}"
                self._process = None
                self._done.set()
            elif self._process is process and self._is_going:
                self._clean()
                self._start()
            elif self._process is process:
                self._process = None

    def _note_done(self, said: str | None) -> None:
        with self._lock:
            if self.finish_s is None:
                going_s = time.monotonic() - self._resumed_s if self._is_going else 0.0
                self.finish_s = self.worked_s + going_s
                self.said = said
        self._done.set()

    def _signal(self, number: int) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)

    def _measure_memory(self) -> None:
        mark = f"{VARIABLE}={self._mark}".encode()
        found = memory_bytes(processes_with(mark))
        self.peak_bytes = max(self.peak_bytes, found)

    def _clean(self) -> None:
        """Leave nothing but the file."""
        for path in self._file.parent.iterdir():
            if path.name == PRIVATE:
                shutil.rmtree(path, ignore_errors=True)
            elif path != self._file:
                path.unlink(missing_ok=True)
