"""Rules on where checkpoints land: nowhere, in memory, in a container, or far away."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

from instride.doctor.machine.alternatives import elsewhere
from instride.doctor.machine.landings import Landing
from instride.doctor.model import Certainty, Finding, Fix, FixKind, Reading
from instride.reasons import Reason
from instride.system.filesystems import Kind, is_remote

NEVER_LOCAL = frozenset({Kind.WINDOWS, Kind.OBJECTS})
"""They do other things with a rename and a sync than a disk does, whatever a short probe says.

The others may be as good as a disk: some file servers are faster than any.
"""


def check_lasting(landing: Landing, alternative: Landing | None) -> Iterator[Finding]:
    """volatile-checkpoints and container-checkpoints."""
    fixes = (elsewhere(landing, alternative),)
    facts = {"path": str(landing.path), "filesystem": landing.filesystem}
    if landing.kind is Kind.MEMORY:
        yield Finding("volatile-checkpoints", {**facts}, (mount_reading(landing),), fixes=fixes)
    elif landing.kind is Kind.LAYER:
        run_with = Fix(FixKind.LINE, f"docker run --volume ./checkpoints:{landing.path.absolute()}")
        yield Finding(
            "container-checkpoints",
            {**facts},
            (mount_reading(landing),),
            Certainty.LIKELY,
            (run_with,),
        )


def check_remote(landing: Landing, alternative: Landing | None) -> Iterator[Finding]:
    """remote-checkpoint-disk, for what was not measured or is known to be slow."""
    if not is_remote(landing.kind) and landing.kind is not Kind.FUSE:
        return
    certainty = Certainty.LIKELY if landing.kind in NEVER_LOCAL else Certainty.PERHAPS
    yield Finding(
        "remote-checkpoint-disk",
        {"path": str(landing.path), "filesystem": landing.filesystem},
        (mount_reading(landing),),
        certainty,
        (elsewhere(landing, alternative),),
    )


def check_writable(landing: Landing) -> Iterator[Finding]:
    """checkpoints-not-writable, as far as asking tells; writing tells more."""
    if "ro" in landing.mount.options:
        yield not_writable(landing.path, Reason("os.EROFS"), mount_reading(landing))
    elif not landing.folder.is_dir():
        reading = Reading(str(landing.folder), "a file")
        yield not_writable(landing.path, Reason("os.ENOTDIR"), reading)
    elif not os.access(landing.folder, os.W_OK | os.X_OK):
        mode = oct(landing.folder.stat().st_mode & 0o7777)
        reading = Reading(str(landing.folder), mode)
        yield not_writable(landing.path, Reason("os.EACCES"), reading)


def not_writable(path: Path, error: Reason, reading: Reading) -> Finding:
    if sys.platform == "win32":
        shown = f'icacls "{path}"'
    else:
        lister = "namei -l" if sys.platform.startswith("linux") else "ls -lde"
        shown = f"{lister} {quoted(path)}"
    return Finding(
        "checkpoints-not-writable",
        {"path": str(path), "error": error},
        (reading,),
        fixes=(Fix(FixKind.COMMAND, shown),),
    )


def mount_reading(landing: Landing) -> Reading:
    return Reading(f"mount of {landing.path}", f"{landing.mount.point} ({landing.filesystem})")


def quoted(path: Path) -> str:
    return shlex.quote(str(path))
