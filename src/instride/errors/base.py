"""What all errors have in common."""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Mapping
from typing import ClassVar

from instride.reasons import Fact, fill


class InstrideError(Exception):
    """Base of all errors: a message for people, a hint, an exit code."""

    exit_code: ClassVar[int] = 2
    texts: ClassVar[Mapping[str, str]] = {}
    """`message`, `hint`, and other forms of them; gaps are filled with the facts."""

    def __init__(self, message: str = "message", hint: str = "hint", **facts: Fact) -> None:
        """`message` and `hint` are the names of the texts that are said."""
        self.message_name, self.hint_name, self.facts = message, hint, facts
        self.hint = fill(self.texts[hint], facts)
        super().__init__(fill(self.texts[message], facts))
        self.add_note(f"hint: {self.hint}")  # a traceback shows it


def looking_at(path: str) -> str:
    """A command that shows the path, or the nearest above it that can be seen: of what is missing,
    what is there instead; of what is closed to us, the folder that keeps us out."""
    seen, flags = path, ""
    while True:
        try:
            is_folder = stat.S_ISDIR(os.lstat(seen).st_mode)
            return f"ls {flags or ('-ld' if is_folder else '-l')} {shlex.quote(seen)}"
        except (OSError, ValueError) as error:
            above = os.path.dirname(seen.rstrip("/"))  # noqa: PTH120 - pathlib costs start-up time
            flags = "-ld" if isinstance(error, PermissionError) else "-l"
            above = above or ("/" if seen.startswith("/") else ".")
            # What is above the folder that we stand in shows only in its whole name.
            seen = _here() if above == seen else above


def as_named(path: str) -> str:
    """A path as people are told of it: of a link to nothing also where it leads, like `ls -l`."""
    target = _missing_target(path)
    return path if target is None else f"{path} -> {target}"


def looking_behind(path: str) -> str:
    """`looking_at`, of what is missing where a link leads, which is there itself."""
    target = _missing_target(path)
    if target is None:
        return looking_at(path)
    return looking_at(os.path.join(os.path.dirname(path), target))  # noqa: PTH118, PTH120 - as above


def _missing_target(path: str) -> str | None:
    try:
        target = os.readlink(path)  # noqa: PTH115 - as above
    except (OSError, ValueError):
        return None
    return None if os.path.exists(path) else target  # noqa: PTH110 - as above


def _here() -> str:
    try:
        return os.getcwd()  # noqa: PTH109 - as above
    except OSError:  # it was deleted
        return "/"


def quoted_folder(path: str) -> str:
    return shlex.quote(os.path.dirname(path) or ".")  # noqa: PTH120 - pathlib costs start-up time
