"""Whether something is gone, for those who delete what belonged to it."""

from __future__ import annotations

from pathlib import Path


def is_gone(path: Path) -> bool:
    """Whether nothing has that name. Raises OSError where the system does not say.

    `Path.exists` would not do: it follows links, and a disk that is not mounted just now comes
    back; and from Python 3.14 on it takes whatever the system answers for an absence.
    """
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    return False
