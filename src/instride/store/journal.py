"""The journal of a store: what happened, a line each, appended whole."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from instride.places import JOURNAL, PRIVATE
from instride.store.atomic import NOT_INHERITED

Value = str | int | float | bool | None | list[str]
LATELY_BYTES = 64 << 10
_encode = msgspec.json.Encoder().encode


def journal_path(directory: Path) -> Path:
    return directory / PRIVATE / JOURNAL


def tells_of_steps(directory: Path) -> bool:
    """Whether somebody trained there, and told of steps lately."""
    path = journal_path(directory)
    try:
        if not path.is_file():  # a pipe would wait for ever
            return False
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - LATELY_BYTES))
            return b'"kind":"step"' in file.read(LATELY_BYTES)
    except OSError:
        return False  # it is not for us to read


def append(path: Path, lines: Iterable[Mapping[str, Value]]) -> bool:
    """Add lines in one write, so that a kill breaks none; whether that could be done.

    Opened each time: the store may be deleted and made anew. It is not made here.
    """
    text = b"".join(_encode(line) + b"\n" for line in lines)
    try:
        fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | NOT_INHERITED, 0o644)
    except OSError:
        return False  # a store that cannot be written says so by other means
    try:
        num_written = os.write(fd, text)
        if num_written < len(text):  # the disk is full: half a line would spoil the one behind it
            num_whole = text.rfind(b"\n", 0, num_written) + 1
            os.ftruncate(fd, os.fstat(fd).st_size - num_written + num_whole)
    except OSError:
        return False  # a full disk: the next lines may fit again
    finally:
        os.close(fd)
    return num_written == len(text)
