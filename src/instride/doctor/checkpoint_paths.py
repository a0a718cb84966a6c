"""Where checkpoints of a repository go: what its saves say, its configs, defaults of its code."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from instride.doctor.repository import Repository, TextFile
from instride.doctor.rules.defaults import defaults, plain_key
from instride.doctor.rules.destinations import NOTHING_TOLD, Destinations
from instride.doctor.rules.plain_paths import PlainPaths
from instride.doctor.rules.remembering import once

KEYS = frozenset({
    "out_dir", "output_dir", "save_dir", "checkpoint_dir", "checkpoints_dir", "ckpt_dir",
    "checkpoint_path", "save_path", "default_root_dir", "save_folder", "checkpoint_folder",
    "dump_folder",
})  # fmt: skip
SAVING = (
    "torch.save", "save_checkpoint", "save_pretrained", "TrainingArguments", "ModelCheckpoint",
    ".backward(",
)  # fmt: skip
"""What is in code that trains; elsewhere such a directory is where results or pictures go."""
CHECKPOINTS = frozenset({".pt", ".pth", ".ckpt", ".bin", ".safetensors", ".tar"})
SPELLINGS = (*KEYS, *(key.replace("_", "-") for key in KEYS), *(key.upper() for key in KEYS))
NOT_PLAIN = frozenset("${}%<>*\n\0")
"""In a value: something else is put there when it is used."""
MOST = 8
"""Repositories with many examples name as many directories, mostly on one disk."""


def checkpoint_paths(
    repository: Repository, saves: Destinations = NOTHING_TOLD
) -> tuple[Path, ...]:
    """Directories that exist here, or could be made where their parent is.

    Without the saves, which take longer to find, it is a first guess by the usual names.
    """
    found: dict[Path, None] = {}
    for text in (*saves.directories, *_named(repository, saves)):
        path = _resolved(repository.root, text)
        if path is not None:
            found.setdefault(path)
        if len(found) == MOST:
            break
    return tuple(found)


def _named(repository: Repository, saves: Destinations) -> Iterator[str]:
    """What stands under the usual names, where no save says more."""
    for file, text in _names_given(repository):
        if file not in saves.told_by:
            yield str(Path(text).parent) if Path(text).suffix in CHECKPOINTS else text


@once
def _names_given(repository: Repository) -> list[tuple[TextFile, str]]:
    """The values of the usual names, and where they stand; configs first."""
    found: list[tuple[TextFile, str]] = []
    for config in repository.configs:
        if not config.aside and config.mentions(*SPELLINGS):
            found += [
                (config, entry.value)
                for entry in config.entries
                if plain_key(entry.key) in KEYS and isinstance(entry.value, str)
            ]
    paths = PlainPaths(repository, beyond_files=False)
    for file in repository.python_mentioning(*SPELLINGS):
        if not file.aside and ("train" in file.path.lower() or file.mentions(*SAVING)):
            for name, value in defaults(file):
                if name in KEYS:
                    found += [(file, text) for text in paths.directories(file, value)]
    return found


def _resolved(root: Path, text: str) -> Path | None:
    """The directory that a value names; None where that is none, or one of another machine."""
    if not text.strip() or "://" in text or NOT_PLAIN & set(text):
        return None
    try:
        os.fsencode(text)
        path = Path(os.path.normpath(root / Path(text).expanduser()))
        is_here = path.is_dir() or path.parent.is_dir() or not Path(text).is_absolute()
    except (OSError, RuntimeError, ValueError):
        return None
    return path if is_here else None
