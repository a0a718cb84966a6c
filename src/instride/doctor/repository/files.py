"""The files of a repository: which ones, within which bounds, and what they say."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterator, Sequence
from enum import StrEnum
from functools import cached_property
from pathlib import Path, PurePosixPath

import msgspec

from instride.doctor.model import Place

MOST_FILES = 20_000
MOST_BYTES = 2 * 1024 * 1024
DEEPEST = 24
LONGEST_EVIDENCE = 160
NOT_OURS = {
    "__pycache__", "build", "dist", "env", "node_modules", "site-packages", "third_party",
    "thirdparty", "vendor", "venv", "virtualenv", "wandb",
}  # fmt: skip
"""Folders that hold what others wrote or what a run left behind."""
ASIDE = {
    "benchmark", "benchmarks", "demo", "demos", "doc", "docs", "example", "examples", "notebooks",
    "test", "testing", "tests", "tutorial", "tutorials",
}  # fmt: skip


class Why(StrEnum):
    """Why something of a repository was not read."""

    TOO_LARGE = "too-large"
    TOO_MANY = "too-many"
    TOO_DEEP = "too-deep"
    UNREADABLE = "unreadable"
    TIME = "time"
    """The time for reading was up."""
    NOT_PYTHON_3 = "not-python-3"
    BROKEN = "broken"
    """It does not parse as what its name says."""


class Skipped(msgspec.Struct, frozen=True):
    path: str
    why: Why


class TextFile:
    """A text file of the repository; what is not UTF-8 in it is replaced."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        """Relative to the repository, with slashes."""
        self.text = normalised(text)
        self.newline = _newline(text)
        """How its lines end; None where a diff of the text would not fit the file."""

    @property
    def broken(self) -> Why | None:
        """Why it could not be parsed, if that was tried."""
        return None

    @cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def aside(self) -> bool:
        """Whether it is a test, an example or documentation: of less interest than the trainer."""
        path = PurePosixPath(self.path)
        name = path.name
        return bool(ASIDE & set(path.parts[:-1])) or (
            name.startswith("test_") or name.endswith("_test.py") or name == "conftest.py"
        )

    def mentions(self, *words: str) -> bool:
        """Whether any of the words is in the text: cheap, before something dear is done."""
        return any(word in self.text for word in words)

    def place(self, line: int) -> Place:
        text = self.lines[line - 1].strip() if 0 < line <= len(self.lines) else ""
        if len(text) > LONGEST_EVIDENCE:
            text = text[: LONGEST_EVIDENCE - 3] + "..."
        return Place(self.path, line, text)


def list_files(root: Path, exclude: Sequence[str], skipped: list[Skipped]) -> Iterator[str]:
    """The files below a folder, in a steady order; links and folders of others are left out."""
    count = 0
    todo = [("", 0)]
    while todo:
        folder, depth = todo.pop()
        below = []
        for entry in _entries(root / folder, folder, skipped):
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_symlink() or _excluded(path, exclude):
                continue
            if entry.is_dir(follow_symlinks=False):
                if _is_ours(entry):
                    below.append((path, depth + 1))
            elif entry.is_file(follow_symlinks=False):
                if count == MOST_FILES:
                    skipped.append(Skipped(path, Why.TOO_MANY))
                    return
                count += 1
                yield path
        if depth < DEEPEST:
            todo.extend(reversed(below))
        else:
            skipped.extend(Skipped(path, Why.TOO_DEEP) for path, _ in below)


def _entries(folder: Path, path: str, skipped: list[Skipped]) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        skipped.append(Skipped(path or ".", Why.UNREADABLE))
        return []


def _excluded(path: str, exclude: Sequence[str]) -> bool:
    return any(fnmatch.fnmatch(path, glob) or path.startswith(f"{glob}/") for glob in exclude)


def _is_ours(entry: os.DirEntry[str]) -> bool:
    if entry.name in NOT_OURS or (entry.name.startswith(".") and entry.name != ".github"):
        return False
    # Not by pathlib, which raises where the folder may not be entered: whoever lists it says so.
    return not os.path.exists(os.path.join(entry.path, "pyvenv.cfg"))  # noqa: PTH110, PTH118


def normalised(text: str) -> str:
    """A text whose lines end in `\\n`, without the mark that some editors put first."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _newline(text: str) -> str | None:
    num_pairs, num_lines, num_returns = (text.count(each) for each in ("\r\n", "\n", "\r"))
    if text.startswith("\ufeff") or "\ufffd" in text or num_returns != num_pairs:
        return None
    if num_pairs == num_lines:
        return "\r\n" if num_pairs else "\n"
    return None if num_pairs else "\n"


def read_text(root: Path, path: str, skipped: list[Skipped]) -> str | None:
    """The text of a file, or nothing where it is too large, binary or cannot be read."""
    text = read_raw(root, path, skipped)
    return None if text is None else normalised(text)


def read_raw(root: Path, path: str, skipped: list[Skipped]) -> str | None:
    """As `read_text`, with the ends of lines as they are."""
    try:
        with (root / path).open("rb") as stream:
            data = stream.read(MOST_BYTES + 1)
    except OSError:
        skipped.append(Skipped(path, Why.UNREADABLE))
        return None
    if len(data) > MOST_BYTES:
        skipped.append(Skipped(path, Why.TOO_LARGE))
        return None
    if b"\0" in data:
        skipped.append(Skipped(path, Why.BROKEN))
        return None
    return data.decode("utf-8", "replace")
