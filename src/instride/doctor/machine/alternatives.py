"""Another disk of this machine, to compare with and to move to."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from instride.doctor.machine.landings import Landing, SilentError, look_at
from instride.doctor.model import Fix, FixKind
from instride.system.filesystems import Kind

LEAST_FREE_BYTES = 5_000_000_000
"""A disk with less has no room for checkpoints either."""


def local_disks(repo: Path | None) -> list[Landing]:
    """The places on disks of this machine that people have: home, here, for temporary files."""
    places = dict.fromkeys(_usual(repo))
    found = (_look_at(path) for path in places)
    return [each for each in found if each is not None and each.kind is Kind.LOCAL]


def alternative_to(landing: Landing, disks: Sequence[Landing]) -> Landing | None:
    """The one with the most room, on another filesystem; None if there is none."""
    fitting = [each for each in disks if _is_other(each, landing) and _has_room(each, landing)]
    return max(fitting, key=lambda each: each.free_bytes, default=None)


def elsewhere(landing: Landing, alternative: Landing | None) -> Fix:
    """Where to put checkpoints instead, or how to find out."""
    if alternative is not None:
        return moving(landing, alternative)
    return Fix(FixKind.COMMAND, "instride doctor --checkpoints /another/disk")


def moving(landing: Landing, target: Landing) -> Fix:
    """Checkpoints land on another disk, and everybody still finds them under the old name."""
    new = target.folder / landing.path.absolute().name
    if sys.platform == "win32":
        text = f'robocopy "{landing.path}" "{new}" /E /MOVE & mklink /D "{landing.path}" "{new}"'
        return Fix(FixKind.COMMAND, text)
    old_text, new_text = shlex.quote(str(landing.path)), shlex.quote(str(new))
    if landing.path.exists():
        return Fix(FixKind.COMMAND, f"mv {old_text} {new_text} && ln -s {new_text} {old_text}")
    return Fix(FixKind.COMMAND, f"mkdir -p {new_text} && ln -s {new_text} {old_text}")


def _usual(repo: Path | None) -> Iterator[Path]:
    home = Path("~").expanduser()  # stays as it is for those who have none
    if home.is_absolute():
        yield home
    yield Path.cwd()
    yield Path(tempfile.gettempdir())
    if repo is not None:
        yield repo.absolute()


def _look_at(path: Path) -> Landing | None:
    try:
        landing = look_at(path, with_checkpoints=False)
    except (OSError, SilentError):
        return None
    return landing if landing is not None and os.access(landing.folder, os.W_OK) else None


def _is_other(candidate: Landing, landing: Landing) -> bool:
    """A filesystem may be mounted twice, so its device counts where it has one."""
    if candidate.mount.device and landing.mount.device:
        return candidate.mount.device != landing.mount.device
    return candidate.mount.point != landing.mount.point


def _has_room(candidate: Landing, landing: Landing) -> bool:
    return candidate.free_bytes >= max(LEAST_FREE_BYTES, 3 * landing.checkpoint_bytes)
