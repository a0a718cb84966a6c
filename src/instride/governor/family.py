"""Which processes share a group with this one, and whether they are all of one family."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from instride.system.cgroups import PROC

PARENT, SESSION = 1, 3
"""Fields of /proc/PID/stat behind the name."""


def members_of_session(proc: Path = PROC) -> list[int]:
    own = os.getsid(0)
    return [pid for pid in _pids(proc) if _field(pid, SESSION, proc) == own]


def members_of_group(folder: Path) -> list[int] | None:
    """Processes of a control group and of those below it; None where that may not be seen."""
    try:
        files = [folder / "cgroup.procs", *folder.glob("*/**/cgroup.procs")]
        return [int(word) for file in files for word in file.read_text().split()]
    except (OSError, ValueError):
        return None


def is_only_ours(members: Iterable[int] | None, proc: Path = PROC) -> bool:
    """Whether all of them are this process, those that started it, and those that it started.

    A shell that waits for us does not mind a lower weight; a training beside us would.
    """
    if members is None:
        return False
    above = set(_ancestors(os.getpid(), proc))
    return all(
        pid in above or os.getpid() in (pid, *_ancestors(pid, proc)) for pid in members
    )  # fmt: skip


def _ancestors(pid: int, proc: Path) -> Iterable[int]:
    seen: list[int] = []
    parent = _field(pid, PARENT, proc)
    while parent and parent not in seen:
        seen.append(parent)
        parent = _field(parent, PARENT, proc)
    return seen


def _pids(proc: Path) -> list[int]:
    return [int(path.name) for path in proc.iterdir() if path.name.isdigit()]


def _field(pid: int, index: int, proc: Path) -> int | None:
    try:
        text = (proc / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
        return int(text.rpartition(")")[2].split()[index])
    except (OSError, ValueError, IndexError):  # it has ended meanwhile
        return None
