"""The answer of `instride export` (schema 1), and what can be said before anything is read."""

from __future__ import annotations

import importlib.util
import os
import shlex
from contextlib import suppress
from pathlib import Path

import msgspec

from instride.errors import MissingLibraryError, NoStoreError, OverwriteError, UnwritableError
from instride.reasons import Reason
from instride.store.directory import LATEST, checkpoints_in

SCHEMA = 1
NEEDED = ("torch", "safetensors")


class Export(msgspec.Struct, frozen=True):
    """What `instride export --json` prints."""

    schema: int
    source: str
    target: str
    part: str | None
    """What was exported; null: everything."""
    step: int | None
    """As the checkpoint says it."""
    tensors: list[str]
    """Their names in the file."""
    size_bytes: int
    """Of the file."""
    copied: list[str]
    """Tensors that share memory with another one, and were written all the same: the format does
    not know that."""
    left_out: list[str]
    """Where in the checkpoint there are values that are no tensors."""


def check_export(source: Path, target: Path, *, force: bool) -> None:
    """Refuse what cannot be done, in milliseconds: loading torch takes seconds."""
    try:
        source.open("rb").close()
    except IsADirectoryError as error:
        raise _of_a_directory(source, target, error) from error
    except OSError as error:
        raise NoStoreError(str(source), Reason.of(error)) from error
    if target.is_dir():
        raise UnwritableError(str(target), Reason("os.EISDIR"))
    if os.path.lexists(target) and not force:
        raise OverwriteError(str(target))
    for name in NEEDED:
        if importlib.util.find_spec(name) is None:
            raise MissingLibraryError("export", name)


def _of_a_directory(source: Path, target: Path, error: OSError) -> NoStoreError:
    """What to type instead, where there is a checkpoint in it."""
    checkpoint = _checkpoint_in(source)
    if checkpoint is None:
        return NoStoreError(str(source), Reason.of(error), hint="hint.list")
    command = shlex.join(["instride", "export", str(checkpoint), str(target)])
    return NoStoreError(str(source), Reason.of(error), hint="hint.checkpoint", command=command)


def _checkpoint_in(directory: Path) -> Path | None:
    """The one to use: where the link `latest` leads, or else the last step."""
    if (directory / LATEST).is_symlink() and (directory / LATEST).is_file():
        return directory / LATEST
    with suppress(OSError):
        found = checkpoints_in(directory)
        return found[-1].path if found else None
    return None
