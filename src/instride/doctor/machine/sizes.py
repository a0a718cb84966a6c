"""How large a checkpoint is, from those that lie in the directory already."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import msgspec

SUFFIXES = (".pt", ".pth", ".ckpt", ".safetensors", ".bin", ".tar")
FOLDER = re.compile(r"(checkpoint|ckpt|step|epoch|global_?step|iter|version)[-_=]?\d.*", re.I)
MOST_ENTRIES = 20_000
"""Entries looked at, in all: a directory of a million files must not hold doctor up."""
MOST_RECENT = 20
"""Older checkpoints may be of another model."""
_DEEPEST = 3


class Checkpoint(msgspec.Struct, frozen=True):
    """One that was saved before: a file, or a directory with all its files."""

    path: str
    size_bytes: int
    modified: float


def largest_recent(folder: str | os.PathLike[str]) -> Checkpoint | None:
    """The largest of the latest checkpoints in a directory; None if there is none yet."""
    budget = _Budget(MOST_ENTRIES)
    found = list(_checkpoints(folder, budget))
    latest = sorted(found, key=lambda each: each.modified)[-MOST_RECENT:]
    return max(latest, key=lambda each: each.size_bytes, default=None)


class _Budget:
    """Counts entries down."""

    def __init__(self, left: int) -> None:
        self.left = left

    def scan(self, folder: str | os.PathLike[str]) -> Iterator[os.DirEntry[str]]:
        """Entries that can be read, links left out: what they point to is not saved here."""
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if self.left <= 0:
                        return
                    self.left -= 1
                    if not entry.is_symlink():
                        yield entry
        except OSError:
            return


def _checkpoints(folder: str | os.PathLike[str], budget: _Budget) -> Iterator[Checkpoint]:
    for entry in budget.scan(folder):
        try:
            if entry.is_dir():
                size_bytes = _tree_bytes(entry.path, budget) if FOLDER.fullmatch(entry.name) else 0
            else:
                is_one = entry.name.lower().endswith(SUFFIXES)
                size_bytes = entry.stat().st_size if is_one else 0
            if size_bytes:
                yield Checkpoint(entry.path, size_bytes, entry.stat().st_mtime)
        except OSError:  # deleted meanwhile: whoever cleans up is at work
            continue


def _tree_bytes(folder: str, budget: _Budget, depth: int = 0) -> int:
    total = 0
    for entry in budget.scan(folder):
        try:
            if not entry.is_dir():
                total += entry.stat().st_size
            elif depth < _DEEPEST:
                total += _tree_bytes(entry.path, budget, depth + 1)
        except OSError:
            continue
    return total
