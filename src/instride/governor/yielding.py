"""Yielding before any measuring: priorities of threads, of groups of processes, and of cores.

Threads in the idle class run when nobody else wants to, but only among those of one scheduling
group; a process in a session or a control group of its own competes by the weight of that. So that
one is lowered, where it holds nobody but us.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from instride.governor.family import is_only_ours, members_of_group, members_of_session
from instride.governor.spare_cores import CoreWatch
from instride.system.cgroups import PROC
from instride.system.disks import disks_of
from instride.system.mounts import mount_of
from instride.system.priority import make_thread_idle
from instride.system.scheduling import Parting, parting, position_of

YIELDS_WEIGHT = 20.0
"""A group of at most this weight yields: an ordinary one has 1024, one of nice 19 has 15."""
AUTOGROUP = "autogroup"

_watch = CoreWatch()
_lowered: dict[Path, tuple[str, str]] = {}
"""Files of weights: what stood there, and what stands there while we yield."""


def yield_thread() -> None:
    """Let the calling thread have what nobody else wants: it cannot go back.

    Where some cores are idle and others are not, it keeps to those.
    """
    make_thread_idle()
    spare = _watch.spare()
    if spare:
        try:
            os.sched_setaffinity(0, spare)
        except OSError:
            return  # the cores that are allowed have changed


def yield_process(
    trainer_pids: Sequence[int] = (), directory: Path | None = None, proc: Path = PROC
) -> list[str]:
    """Let this process yield to a training in another group; returns what could not be done.

    It lasts as long as the process. Without a known training the session is lowered where nobody
    else is in it.
    """
    notes = []
    for found in _partings(trainer_pids, proc):
        if found.weight > YIELDS_WEIGHT:
            problem = _lower(found, proc)
            if problem:
                notes.append(problem)
    if directory is not None:
        notes += _deaf_disks(directory)
    return notes


def _partings(trainer_pids: Sequence[int], proc: Path) -> list[Parting]:
    """Groups of ours that compete with those of the training; each once."""
    own = position_of(os.getpid(), proc)
    if not trainer_pids:
        # Against a process that is in no group of ours: the topmost one counts.
        others = [position_of(1, proc)]
    else:
        others = [position_of(pid, proc) for pid in trainer_pids]
    found = [parting(own, other) for other in others]
    return list({each.file: each for each in found if each is not None}.values())


def _lower(found: Parting, proc: Path) -> str | None:
    """Give a group of ours the least weight; says why not."""
    file = Path(found.file)
    is_session = file.name == AUTOGROUP
    members = members_of_session(proc) if is_session else members_of_group(file.parent)
    if not is_only_ours(members, proc):
        what = "session" if is_session else "control group"
        return (
            f"others are in the {what} of this process, so that its weight stays; "
            "run it in one of its own to let it yield more"
        )
    try:
        file.write_text(found.lowered, encoding="ascii")
    except OSError as error:
        return f"`{file}` cannot be set to {found.lowered}: {error.strerror}"
    if not _lowered:
        # The shell of a terminal lives on in the same group, and so does what it starts later.
        atexit.register(stand_up)
    _lowered[file] = (found.value.rpartition(" ")[2], found.lowered)
    return None


def stand_up(is_urgent: bool = True) -> None:
    """Give the groups of this process their weight again, because work must get done; or take it
    away again. The idle class of its threads then only counts among themselves."""
    for file, (ordinary, lowered) in _lowered.items():
        with suppress(OSError):
            file.write_text(ordinary if is_urgent else lowered, encoding="ascii")


def _deaf_disks(directory: Path) -> list[str]:
    mount = mount_of(directory)
    disks = [] if mount is None else disks_of(mount)
    return [
        f"the scheduler `{disk.scheduler}` of the disk {disk.name} knows no idle class: what is "
        "read and written there is held back by the pace alone"
        for disk in disks
        if not disk.obeys_priorities
    ]
