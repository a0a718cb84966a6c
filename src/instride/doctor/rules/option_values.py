"""What an option of a program is by default, wherever in a repository that stands."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import islice

from instride.doctor.repository import PythonFile, Repository
from instride.doctor.rules.defaults import assigned, options, plain_key

MOST_FILES = 8
"""That are asked for one option: each has to be parsed."""


def given_in_code(repository: Repository, name: str) -> Iterator[tuple[PythonFile, ast.expr]]:
    """The defaults of parsers and fields, and what variables of that name are given."""
    spelling = name.replace("_", "[_-]")
    gives = re.compile(
        rf"[\"']-*{spelling}[\"']|^[ \t]*([\w.]+\.)?{name}[ \t]*[:=]", re.IGNORECASE | re.MULTILINE
    )
    files = (
        file
        for file in repository.python_mentioning(*_spellings(name))
        if not file.aside and gives.search(file.text)
    )
    for file in islice(files, MOST_FILES):
        for key, value in (*assigned(file), *options(file)):
            if key == name and not (isinstance(value, ast.Constant) and value.value is None):
                yield file, value


def given_in_configs(repository: Repository, name: str) -> Iterator[str]:
    for config in repository.configs:
        if not config.aside and config.mentions(*_spellings(name)):
            for entry in config.entries:
                if plain_key(entry.key) == name and isinstance(entry.value, str):
                    yield entry.value


def _spellings(name: str) -> tuple[str, ...]:
    return name, name.replace("_", "-"), name.upper()
