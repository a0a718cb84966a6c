"""Answers of children, in a file as soon as they are there: what was stopped can be gone on with.

Lines of JSON. The first has the conditions that all answers share; each command that measures adds
a `Go`, and behind it what it was answered. A kill tears the last line at most, which is cut off. It
is measured again, and so is what another version of instride wrote in a way that this one does not
understand.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path

import msgspec

from instride.bench.asking import A
from instride.bench.conditions import Conditions, differing
from instride.bench.orders import Answer, Order, Task
from instride.bench.report import Goes
from instride.bench.scratch import SCRATCH
from instride.errors import CannotResumeError, UnwritableError
from instride.reasons import Reason
from instride.store.atomic import sync_directory, sync_file

BEGINNING = b'{"type":"Conditions",'


class Asked(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an answer is to, as far as it makes a difference to it."""

    task: Task
    way: str = ""
    round: int | None = None
    num_saves: int | None = None
    watches_memory: bool | None = None

    @classmethod
    def of(cls, order: Order, number: int | None) -> Asked:
        return cls(
            order.task,
            order.way,
            number,
            order.num_saves if order.task in (Task.TIME, Task.PREPARE) else None,
            order.watches_memory if order.task is Task.HAMMER else None,
        )


class Go(msgspec.Struct, frozen=True, tag=True):
    """A command that measured."""

    begun: datetime
    load: float
    scratch: str
    """Where it wrote checkpoints: whoever is killed leaves them there."""


class Kept(msgspec.Struct, frozen=True, tag=True):
    asked: Asked
    at: datetime
    answer: Answer
    peak_bytes: int


class Answers:
    """What was answered, to this command and to those before it."""

    def __init__(self, conditions: Conditions, path: str = "", file: FileIO | None = None) -> None:
        """Without a file, nothing is kept."""
        self._path = path
        self._file = file
        self._lock = threading.Lock()  # ways are hammered side by side
        self._first_line = msgspec.json.encode(conditions)
        self._load = conditions.machine.load
        self._go: Go | None = None
        self._kept: dict[Asked, tuple[Go, Kept]] = {}
        self._told: list[tuple[Go, Kept]] = []
        """What became part of this report."""

    @property
    def ways(self) -> set[str]:
        return {asked.way for asked in self._kept if asked.way}

    def __len__(self) -> int:
        return len(self._kept)

    def find(self, asked: Asked, kind: type[A]) -> tuple[A, int] | None:
        """An answer of before, with the most memory that was seen."""
        go, kept = self._kept.get(asked, (None, None))
        if go is None or kept is None or not isinstance(kept.answer, kind):
            return None
        with self._lock:
            self._told.append((go, kept))
        return kept.answer, kept.peak_bytes

    def begin(self, scratch: Path) -> None:
        """Note that something will be measured, and where that writes to."""
        with self._lock:
            if self._go is None:
                self._go = Go(datetime.now(UTC), self._load, str(scratch))
                self._append(_encode(self._go))

    def keep(self, asked: Asked, answer: Answer, peak_bytes: int) -> None:
        """Durable when it returns. Raises UnwritableError."""
        kept = Kept(asked, datetime.now(UTC), answer, peak_bytes)
        with self._lock:
            assert self._go is not None, "begin() comes first"
            self._told.append((self._go, kept))
            self._append(_encode(kept))

    def goes(self) -> Goes | None:
        """When all of it was measured, unless this command did."""
        if all(go is self._go for go, _ in self._told):
            return None
        times = [kept.at for _, kept in self._told]
        return Goes(len({go.begun for go, _ in self._told}), min(times), max(times))

    @property
    def load(self) -> float:
        """The most that there was at the start of what was measured."""
        return max((go.load for go, _ in self._told), default=self._load)

    def take(self, lines: list[Go | Kept]) -> None:
        """What the file has, in its order."""
        go: Go | None = None
        for line in lines:
            if isinstance(line, Go):
                go = line
            elif go is not None:
                self._kept[line.asked] = go, line

    def _append(self, line: bytes) -> None:
        if self._file is None:
            return
        try:
            is_empty = self._file.seek(0, os.SEEK_END) == 0
            left = memoryview((self._first_line + b"\n") * is_empty + line + b"\n")
            while left:
                left = left[self._file.write(left) :]
            sync_file(self._file.fileno())
        except OSError as error:
            raise UnwritableError(self._path, Reason.of(error)) from error


_encode = msgspec.json.Encoder().encode


@contextmanager
def answers_in(path: str | None, conditions: Conditions) -> Iterator[Answers]:
    """Those in a file, which is made if there is none; what goes that were killed left on the disk
    is deleted. Raises CannotResumeError, UnwritableError."""
    if path is None:
        yield Answers(conditions)
        return
    try:
        file = FileIO(path, "a+")
    except OSError as error:
        raise UnwritableError(path, Reason.of(error)) from error
    with file:
        _lock(file, path)
        sync_directory(Path(path).parent)
        lines = _read(file, path, conditions)
        for line in lines:
            if isinstance(line, Go) and Path(line.scratch).name.startswith(SCRATCH):
                shutil.rmtree(line.scratch, ignore_errors=True)
        answers = Answers(conditions, path, file)
        answers.take(lines)
        yield answers


def _lock(file: FileIO, path: str) -> None:
    """Where files cannot be locked, nobody else is taken to be there."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise CannotResumeError(path, message="message.busy", hint="hint.busy") from error
    except OSError:
        return


def _read(file: FileIO, path: str, conditions: Conditions) -> list[Go | Kept]:
    """The lines behind the first; of one that was torn, nothing is left in the file."""
    file.seek(0)
    data = file.read()
    if not data.startswith(BEGINNING[: len(data)]):
        raise CannotResumeError(path, message="message.foreign")
    whole = data[: data.rfind(b"\n") + 1]
    if len(whole) < len(data):
        file.truncate(len(whole))
    if not whole:
        return []
    first, *others = whole.splitlines()
    try:
        theirs = msgspec.json.decode(first, type=Conditions)
    except msgspec.DecodeError as error:
        raise CannotResumeError(path, message="message.foreign") from error
    if differences := differing(theirs, conditions):
        there, here = zip(*differences, strict=True)
        raise CannotResumeError(path, there, here)
    return list(_understood(others))


def _understood(lines: list[bytes]) -> Iterator[Go | Kept]:
    decoder = msgspec.json.Decoder(Go | Kept)
    for line in lines:
        with suppress(msgspec.DecodeError):
            yield decoder.decode(line)
