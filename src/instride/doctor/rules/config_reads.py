"""What code reads of a configuration: names, and what they are by default.

A name is read where its value is taken: `config.lr`, `config["lr"]`, `config.get("lr")`, a string
in a call or a list. A field of a class, an option of a parser and a key of a dict of defaults only
say that there is such a name. Only files that mention a name are parsed to find out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec

from instride.doctor.repository import PythonFile, Repository
from instride.doctor.repository.configs import Value
from instride.doctor.rules.file_reads import file_reads
from instride.doctor.rules.loops import NOT_TRAINERS
from instride.doctor.rules.near_names import normal, spellings
from instride.doctor.rules.remembering import once

SPREAD = re.compile(r"\*\*\s*([\w.]*\b(asdict|vars|to_dict|model_dump)\(|[\w.]+\.__dict__)")
"""All fields of an object handed on: each of them is read by whoever takes them."""
BEGINS = re.compile(r"\bf[\"']([A-Za-z_]\w*)\{")
ENDS = re.compile(r"\}(\w+)[\"']")
"""Names that are put together: `f"lr_{part}"`, `f"{part}_lr"`."""


class Read(msgspec.Struct, frozen=True, eq=False):
    """A name that code takes from a configuration."""

    file: PythonFile
    line: int


class Default(msgspec.Struct, frozen=True, eq=False):
    """What a name is, where no configuration says anything else."""

    value: Value
    file: PythonFile
    line: int


class Reads:
    """What the code of a repository reads, its tests left out."""

    def __init__(self, repository: Repository) -> None:
        self._files = [file for file in repository.python if not NOT_TRAINERS.search(file.path)]
        self._fields_are_read = any(SPREAD.search(file.text) for file in self._files)
        self._begins = tuple(_all(BEGINS, self._files))
        self._ends = tuple(_all(ENDS, self._files))
        self._known: dict[str, bool] = {}

    def has(self, key: str) -> bool:
        """Whether anything takes a value of this name, from whatever it may be."""
        name = normal(key)
        if name not in self._known:
            self._known[name] = (
                name.startswith(self._begins)
                or name.endswith(self._ends)
                or any(self._is_read_in(file, name) for file in self._mentioning(name, key))
            )
        return self._known[name]

    def _is_read_in(self, file: PythonFile, name: str) -> bool:
        found = file_reads(file)
        return name in found.names or (self._fields_are_read and name in found.fields)

    def of_config(self, like: str) -> dict[str, Read]:
        """Names that are read of something that looks like a configuration, in files that have a
        word of the given name in any of its spellings; the first place of each."""
        found: dict[str, Read] = {}
        for file in self._mentioning(*spellings(like)):
            for name, line in file_reads(file).of_config.items():
                found.setdefault(name, Read(file, line))
        return found

    def default(self, name: str) -> Default | None:
        for file in self._mentioning(name, name.replace("_", "-")):
            known = file_reads(file).defaults.get(name)
            if known is not None:
                return Default(known[0], file, known[1])
        return None

    def _mentioning(self, *words: str) -> Iterator[PythonFile]:
        return (file for file in self._files if file.mentions(*words))


reads = once(Reads)


def _all(pattern: re.Pattern[str], files: Iterable[PythonFile]) -> set[str]:
    return {found for file in files for found in pattern.findall(file.text)}
