"""Takes checkpoints out of reach, as disks do that are not mounted just now, or about to die."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest


def move_away(checkpoint: Path, elsewhere: Path) -> Path:
    """Leave a link to another disk, which is not mounted just now; where the file is until then."""
    elsewhere.mkdir(exist_ok=True)
    shutil.move(checkpoint, elsewhere)
    checkpoint.symlink_to(elsewhere / checkpoint.name)
    return elsewhere.rename(elsewhere.with_name("not-mounted"))


def refuse_to_look_at(path: Path, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the system answer with an error, whichever way it is asked."""

    def refusing(look: Any) -> Any:
        def look_or_refuse(wanted: Any, *args: Any, **more: Any) -> Any:
            if not isinstance(wanted, int) and Path(os.fsdecode(wanted)) == path:
                raise OSError(code, os.strerror(code), str(path))
            return look(wanted, *args, **more)

        return look_or_refuse

    for name in ("stat", "lstat"):
        monkeypatch.setattr(os, name, refusing(getattr(os, name)))
