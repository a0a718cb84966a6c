"""The reading of a whole repository, within bounds that do not depend on who wrote it."""

from __future__ import annotations

import ast
import math
import re
import time
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path, PurePosixPath

from instride.doctor.model import Place
from instride.doctor.repository.configs import ConfigFile
from instride.doctor.repository.files import Skipped, TextFile, Why, list_files, read_raw
from instride.doctor.repository.python import PythonFile
from instride.doctor.repository.scripts import SHEBANG, ScriptFile, script_kind

CONFIG_KINDS = {
    ".yaml": "yaml",
    ".yml": "yaml",
    ".toml": "toml",
    ".json": "json",
    ".ini": "ini",
    ".cfg": "ini",
}
NOT_CONFIGS = re.compile(
    r"package(-lock)?\.json|tsconfig.*\.json|tokenizer.*\.json|vocab.*\.json|.*\.index\.json"
    r"|poetry\.lock|mkdocs\.ya?ml|\.pre-commit-config\.yaml|setup\.cfg|tox\.ini|pytest\.ini"
)
WORD = re.compile(r"[A-Za-z_]\w*")


class Repository:
    """What was found in a repository. Trees and entries are made when a rule first needs them."""

    def __init__(
        self,
        root: Path,
        python: list[PythonFile],
        configs: list[ConfigFile],
        scripts: list[ScriptFile],
        skipped: list[Skipped],
    ) -> None:
        self.root = root
        self.python = python
        self.configs = configs
        self.scripts = scripts
        self._unread = skipped

    @property
    def skipped(self) -> list[Skipped]:
        """What was not read so far: ask when all rules have run."""
        tried = [
            Skipped(file.path, file.broken)
            for file in (*self.python, *self.configs)
            if file.broken is not None
        ]
        return self._unread + tried

    def python_mentioning(self, *words: str) -> Iterator[PythonFile]:
        """The Python files with any of these words, so that the others need not be parsed."""
        return (file for file in self.python if file.mentions(*words))

    def place(self, file: TextFile, line: int) -> Place:
        return file.place(line)

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word of every Python file, comments and strings included."""
        found: set[str] = set()
        for file in self.python:
            found.update(WORD.findall(file.text))
        return frozenset(found)

    @cached_property
    def names_read(self) -> dict[str, list[tuple[PythonFile, int]]]:
        """Where code reads a name from something: `x.name`, `x["name"]`, `x.get("name")`,
        `getattr(x, "name")`, or the bare `name`."""
        found: dict[str, list[tuple[PythonFile, int]]] = {}
        for file in self.python:
            for name, line in _names_read(file):
                found.setdefault(name, []).append((file, line))
        return found


def _names_read(file: PythonFile) -> Iterator[tuple[str, int]]:
    for attribute in file.nodes(ast.Attribute):
        if isinstance(attribute.ctx, ast.Load):
            yield attribute.attr, attribute.lineno
    for name in file.nodes(ast.Name):
        if isinstance(name.ctx, ast.Load):
            yield name.id, name.lineno
    for subscript in file.nodes(ast.Subscript):
        if isinstance(subscript.ctx, ast.Load):
            yield from _text(subscript.slice)
    for call in file.nodes(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr in {"get", "pop"}:
            yield from _text(*call.args[:1])
        elif isinstance(call.func, ast.Name) and call.func.id in {"getattr", "hasattr"}:
            yield from _text(*call.args[1:2])


def _text(*nodes: ast.AST) -> Iterator[tuple[str, int]]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value, node.lineno


def read_repository(
    root: Path, exclude: Sequence[str] = (), deadline: float = math.inf
) -> Repository:
    """Read what can matter of a repository; nothing of it is run and no link is followed.

    The deadline is one of `time.monotonic`; what was not read by then is left out, and said.
    """
    skipped: list[Skipped] = []
    repository = Repository(root, [], [], [], skipped)
    for path in list_files(root, exclude, skipped):
        if time.monotonic() > deadline:
            skipped.append(Skipped(path, Why.TIME))
            break
        _add(repository, root, path, skipped)
    return repository


def _add(repository: Repository, root: Path, path: str, skipped: list[Skipped]) -> None:
    suffix = PurePosixPath(path).suffix.lower()
    script = script_kind(path)
    config = CONFIG_KINDS.get(suffix)
    if config and NOT_CONFIGS.fullmatch(PurePosixPath(path).name):
        config = None
    if not (suffix == ".py" or script or config or not suffix):
        return
    if not suffix and not script and not _begins_as_script(root / path):
        return
    text = read_raw(root, path, skipped)
    if text is None:
        return
    if suffix == ".py":
        repository.python.append(PythonFile(path, text))
    elif config and script != "compose":
        repository.configs.append(ConfigFile(path, text, config))
    else:
        repository.scripts.append(ScriptFile(path, text, script or "shell"))


def _begins_as_script(path: Path) -> bool:
    try:
        with path.open("rb") as stream:
            return SHEBANG.match(stream.read(80).decode("utf-8", "replace")) is not None
    except OSError:
        return False
