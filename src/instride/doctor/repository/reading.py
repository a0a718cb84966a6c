"""The reading of a whole repository, within bounds that do not depend on who wrote it."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path, PurePosixPath

from instride.doctor.repository.configs import ConfigFile
from instride.doctor.repository.files import Skipped, Why, list_files, read_raw
from instride.doctor.repository.python import Budget, PythonFile
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
MOST_CODE = 2_500_000
"""Words and signs of Python in all."""
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
        budget: Budget | None = None,
    ) -> None:
        self.root = root
        self.budget = budget or Budget(MOST_CODE)
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
        for file in self.python:
            self.budget.check_time()
            if file.mentions(*words):
                yield file

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word of every Python file, comments and strings included."""
        found: set[str] = set()
        for file in self.python:
            self.budget.check_time()
            found.update(WORD.findall(file.text))
        return frozenset(found)


def read_repository(
    root: Path, exclude: Sequence[str] = (), deadline: float = math.inf
) -> Repository:
    """Read what can matter of a repository; nothing of it is run and no link is followed.

    The deadline is one of `time.monotonic`; what was not read by then is left out, and said.
    """
    skipped: list[Skipped] = []
    budget = Budget(MOST_CODE, deadline)
    repository = Repository(root, [], [], [], skipped, budget)
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
        repository.python.append(PythonFile(path, text, repository.budget))
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
