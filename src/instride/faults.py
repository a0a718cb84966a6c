"""Named phases of a save, and faults that tests ask for: `INSTRIDE_FAULTS="kill@renamed"`.

Without the variable nothing here does anything. A fault is `what@phase`, or `what@phase#3` for the
third time the phase is reached; `what` is `kill`, `hang`, or the name of an error (`EIO`). With
`INSTRIDE_FAULTS_ONCE` naming a file, whoever creates that file fails, and nobody else: a process
that is started again is left alone.
"""

from __future__ import annotations

import errno
import os
import signal
import threading
from collections import Counter

VARIABLE = "INSTRIDE_FAULTS"
ONCE = "INSTRIDE_FAULTS_ONCE"
WRITER_PHASES = (
    "started", "locked", "ready", "begun", "opened", "write", "written", "tail", "synced",
    "manifest", "renamed", "linked", "verified", "deleted",
)  # fmt: skip
SAVE_PHASES = WRITER_PHASES[WRITER_PHASES.index("begun") :]
"""Those of one save; before them the writer starts."""
PACK_PHASES = (
    "pack.opened", "pack.write", "pack.written", "pack.synced", "pack.checked", "pack.manifest",
    "pack.renamed", "pack.removed", "unpack.opened", "unpack.synced", "unpack.manifest",
)  # fmt: skip
WRITER_PACK_PHASES = (
    "pack.opened", "pack.write", "pack.written", "pack.synced", "pack.checked", "pack.manifest",
    "pack.renamed", "pack.linked", "pack.removed",
)  # fmt: skip
AGENT_PHASES = (
    "agent.locked", "agent.looked", "agent.opened", "agent.write", "agent.written", "agent.synced",
    "agent.checked", "agent.manifest", "agent.renamed", "agent.removed", "agent.deleted",
)  # fmt: skip
TRAINER_PHASES = ("frozen", "copied", "submitted", "pickled", "sent")
STREAM_PHASE = "streamed"
"""One more piece of a snapshot is in an arena that does not hold all of it."""
ARRIVE_PHASE = "arrived"
"""More of a snapshot is in its place, and may be written while the rest is on its way."""
LATE_PHASE = "late"
"""Copies that an optimizer waits for are under way, on a GPU without room for a snapshot."""

_lock = threading.Lock()
_seen: Counter[str] = Counter()
_faults: list[str] = []


def arm() -> None:
    """Read what the environment asks for."""
    _faults[:] = [fault for fault in os.environ.get(VARIABLE, "").split(",") if fault]


arm()


def reached(phase: str) -> None:
    """Note that a phase was reached; fail here if a test asked for it."""
    if not _faults:
        return
    with _lock:
        _seen[phase] += 1
        count = _seen[phase]
    for fault in _faults:
        what, _, where = fault.partition("@")
        name, _, number = where.partition("#")
        if name == phase and (not number or int(number) == count) and _is_first():
            _fail(what, phase)


def _is_first() -> bool:
    path = os.environ.get(ONCE)
    if not path:
        return True
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    except FileExistsError:
        return False
    return True


def _fail(what: str, phase: str) -> None:
    if what == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif what == "hang":
        threading.Event().wait()
    else:
        raise OSError(getattr(errno, what), f"asked for by {VARIABLE} at {phase}")
