"""Scripts that start things: makefiles, shell, Dockerfiles, systemd units, compose, Procfiles."""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import PurePosixPath

import msgspec

from instride.doctor.repository.files import TextFile

UNIT_SUFFIXES = {".service", ".timer"}
SHELL_SUFFIXES = {".sh", ".bash", ".zsh", ".slurm", ".sbatch"}
COMPOSE = re.compile(r"(docker-)?compose[\w.-]*\.ya?ml")
SHEBANG = re.compile(r"#!.*\b(ba|z|k|da)?sh\b")
TARGET = re.compile(r"([\w./%$(){} -]+?)\s*::?(?!=)")
RECIPE_SIGNS = re.compile(r"[@+-]*\s*")
LONGEST = 4_000
"""A longer line is data."""


class Command(msgspec.Struct, frozen=True):
    """A line of a script as it is run: continuations joined, recipe signs removed."""

    line: int
    """Where it begins, from 1."""
    text: str
    target: str = ""
    """The makefile target that it belongs to, or the name before it in a Procfile."""


class ScriptFile(TextFile):
    def __init__(self, path: str, text: str, kind: str) -> None:
        super().__init__(path, text)
        self.kind = kind
        """`make`, `shell`, `docker`, `unit`, `compose` or `procfile`."""

    @cached_property
    def commands(self) -> list[Command]:
        """Every command, in the order of the file; of a compose file none, which is YAML."""
        if self.kind == "compose":
            return []
        joined = _joined(self.lines)
        if self.kind == "make":
            return _recipes(joined)
        if self.kind == "procfile":
            return [
                Command(number, text.partition(":")[2].strip(), text.partition(":")[0].strip())
                for number, text in joined
                if ":" in text and not text.startswith("#")
            ]
        return [Command(number, text.strip()) for number, text in joined if _is_code(text)]


def script_kind(path: str) -> str | None:
    """What kind of script a file is by its name."""
    name = PurePosixPath(path).name
    suffix = PurePosixPath(path).suffix.lower()
    if name in {"Makefile", "makefile", "GNUmakefile", "justfile", "Justfile"} or suffix == ".mk":
        return "make"
    if name.startswith("Dockerfile") or suffix == ".dockerfile":
        return "docker"
    if COMPOSE.fullmatch(name):
        return "compose"
    if name == "Procfile":
        return "procfile"
    if suffix in UNIT_SUFFIXES:
        return "unit"
    return "shell" if suffix in SHELL_SUFFIXES else None


def _joined(lines: list[str]) -> list[tuple[int, str]]:
    """Lines with their continuations, each at the number of its first."""
    found: list[tuple[int, str]] = []
    start, text = 0, ""
    for number, line in enumerate(lines, 1):
        if not text:
            start = number
        piece = line.rstrip() if not text else line.strip()
        if len(text) + len(piece) > LONGEST:
            text = ""
            continue
        if piece.endswith("\\"):
            text += piece[:-1].rstrip() + " "
            continue
        found.append((start, text + piece))
        text = ""
    if text:
        found.append((start, text.rstrip()))
    return found


def _recipes(joined: list[tuple[int, str]]) -> list[Command]:
    found: list[Command] = []
    target = ""
    for number, text in joined:
        if text.startswith(("\t", "    ")):
            command = RECIPE_SIGNS.sub("", text.strip(), count=1)
            if target and _is_code(command):
                found.append(Command(number, command.replace("$$", "$"), target))
        elif match := TARGET.match(text):
            target = match.group(1).strip()
    return found


def _is_code(text: str) -> bool:
    return bool(text.strip()) and not text.lstrip().startswith("#")
