"""Where checkpoints land: the mount, the kind of filesystem, and what is left of it."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import msgspec

from instride.doctor.machine.sizes import Checkpoint, largest_recent
from instride.system.filesystems import Kind, kind_of
from instride.system.mounts import Mount, mount_of

PATIENCE_S = 2.0
"""A server that is gone keeps whoever asks its filesystem waiting for ever."""
_Answer = TypeVar("_Answer")


class Landing(msgspec.Struct, frozen=True):
    """A directory that checkpoints are or will be saved in."""

    path: Path
    """As it was named."""
    folder: Path
    """The same, or what exists of it yet."""
    mount: Mount
    kind: Kind
    free_bytes: int
    """For those without privileges."""
    total_bytes: int
    num_free_inodes: int | None
    """None where a filesystem makes inodes as it goes, or has none."""
    largest: Checkpoint | None
    """The largest of the latest checkpoints in it."""

    @property
    def checkpoint_bytes(self) -> int:
        """Nought if there is none yet."""
        return self.largest.size_bytes if self.largest else 0

    @property
    def filesystem(self) -> str:
        """For people: type and source."""
        type, source = self.mount.type, self.mount.source
        return type if source in ("", "none", type) else f"{type}, {source}"


class SilentError(Exception):
    """A filesystem does not answer."""


def look_at(
    path: Path, patience_s: float = PATIENCE_S, with_checkpoints: bool = True
) -> Landing | None:
    """None where the system does not say what a path is on; SilentError if it does not answer."""
    return answer_of(lambda: _look_at(path, with_checkpoints), patience_s)


def one_a_mount(landings: list[Landing]) -> list[Landing]:
    """Of those on one mount, the one with the largest checkpoint: the mount is judged by it."""
    chosen: dict[str, Landing] = {}
    for each in landings:
        known = chosen.get(each.mount.point)
        if known is None or each.checkpoint_bytes > known.checkpoint_bytes:
            chosen[each.mount.point] = each
    return list(chosen.values())


def answer_of(question: Callable[[], _Answer], patience_s: float = PATIENCE_S) -> _Answer:
    """Ask in another thread, which is left behind if it gets no answer."""
    answers: list[_Answer] = []
    failures: list[OSError] = []

    def ask() -> None:
        try:
            answers.append(question())
        except OSError as error:
            failures.append(error)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(patience_s)
    if failures:
        raise failures[0]
    if not answers:
        raise SilentError
    return answers[0]


def _look_at(path: Path, with_checkpoints: bool) -> Landing | None:
    absolute = path.expanduser().absolute()
    folder = _existing(absolute)
    mount = mount_of(folder)
    if mount is None:
        return None
    usage = shutil.disk_usage(folder)
    return Landing(
        path=path,
        folder=folder,
        mount=mount,
        kind=kind_of(mount),
        free_bytes=usage.free,
        total_bytes=usage.total,
        num_free_inodes=_free_inodes(folder),
        largest=largest_recent(absolute) if with_checkpoints else None,
    )


def _existing(path: Path) -> Path:
    """The path, or the nearest directory above it that is there already."""
    return next((each for each in (path, *path.parents) if each.exists()), path)


def _free_inodes(folder: Path) -> int | None:
    if not hasattr(os, "statvfs"):
        return None
    stats = os.statvfs(folder)
    return stats.f_favail if stats.f_files else None
