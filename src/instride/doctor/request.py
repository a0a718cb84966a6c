"""What doctor is asked to look at."""

from __future__ import annotations

from pathlib import Path

import msgspec

MARKS = (".git", "pyproject.toml", "Makefile", "requirements.txt")
"""What the top of a repository has."""


class Request(msgspec.Struct, frozen=True):
    """What was named on the command line, and what the repository's own configs add to it."""

    repo: Path | None = None
    """The training repository; None if only the machine is to be looked at."""
    checkpoints: tuple[Path, ...] = ()
    """Where checkpoints land: given, or else found in the repository."""
    log: str | None = None
    """A log of this training, for what saves and evaluations really cost."""
    only: tuple[str, ...] = ()
    """Ids of the rules that are wanted; all of them if there is none."""
    probe: bool = True
    """Whether a small file may be written beside the checkpoints, and removed, to measure."""

    def wants(self, rule: str) -> bool:
        return not self.only or rule in self.only


def repository_here() -> Path | None:
    """The current directory, if training code may be in it: a home directory is not searched."""
    here = Path()
    if any((here / mark).exists() for mark in MARKS) or any(here.glob("*.py")):
        return here
    return None
