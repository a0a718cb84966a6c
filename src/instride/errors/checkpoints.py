"""What can be wrong with checkpoints that are there, and with what is made of them."""

from __future__ import annotations

import shlex
from typing import ClassVar

from instride.errors.base import (
    InstrideError,
    as_named,
    looking_at,
    looking_behind,
    quoted_folder,
)
from instride.reasons import NOT_ALLOWED, Reason


class DamagedError(InstrideError, ValueError):
    """A checkpoint is not what was written."""

    exit_code = 30
    texts: ClassVar = {
        "message": "the checkpoint `{path}` is damaged: {why}",
        "hint": "`instride list {folder}` shows which others there are",
    }

    def __init__(self, path: object, why: str | Reason) -> None:
        super().__init__(path=str(path), why=why, folder=quoted_folder(str(path)))


class NoCheckpointError(InstrideError, FileNotFoundError):
    """There is no whole checkpoint where one is needed."""

    exit_code = 33
    texts: ClassVar = {
        "message": "no whole checkpoint in `{directory}`",
        "message.step": "no whole checkpoint of step {step} in `{directory}`",
        "message.foreign": "`{directory}` has no manifest to compare it with: it is not "
        "instride's, or a copy without the hidden `.instride`",
        "hint": "`instride verify {quoted}` says what is wrong with those that are there",
        "hint.list": "`instride list {quoted}` shows what is there",
        "hint.foreign": "`unzip -t {quoted}` compares it with the checksums of its own, if it has "
        "any",
    }

    def __init__(
        self,
        directory: object,
        step: int | None = None,
        *,
        is_listed: bool = False,
        is_foreign: bool = False,
    ) -> None:
        """`is_listed`: every checkpoint was looked at; `is_foreign`: it is one file, and has
        no manifest."""
        message, hint = "message" if step is None else "message.step", "hint"
        if is_foreign:
            message, hint = "message.foreign", "hint.foreign"
        elif is_listed or step is not None:  # of a step there may be none, or somebody's file
            hint = "hint.list"
        super().__init__(
            message,
            hint,
            directory=str(directory),
            step=str(step),
            quoted=shlex.quote(str(directory)),
        )


class MismatchError(InstrideError, ValueError):
    """A checkpoint and what it is to be restored into do not fit together."""

    exit_code = 37
    texts: ClassVar = {
        "message": "`{path}` does not fit: {why}",
        "hint": "`saver.restore(strict=False)` takes what fits and says what it left out",
        "hint.inside": "give `Saver` the model inside: `{part}={part}.{wrapper}`; saved so, a "
        "checkpoint fits every run",
        "hint.wrapped": "give `Saver` the model under that name: "
        "`{part}=torch.nn.ModuleDict({{'{wrapper}': {part}}})`",
    }

    def __init__(
        self,
        path: object,
        why: str | Reason,
        *,
        hint: str = "hint",
        part: str = "",
        wrapper: str = "",
    ) -> None:
        """`wrapper` is what a model is called in one that is around it."""
        super().__init__(hint=hint, path=str(path), why=why, part=part, wrapper=wrapper)


class UnsafeCheckpointError(InstrideError, ValueError):
    """A checkpoint holds what only a full unpickling could read."""

    exit_code = 38
    texts: ClassVar = {
        "message": "`{path}` holds values that could run code when they are read: {why}",
        "hint": "if you made the file yourself: `restore(weights_only=False)`",
        "hint.export": "if you made the file yourself: `{python}` in Python, where its classes are "
        "known, and then `{command}`",
    }

    def __init__(
        self,
        path: object,
        why: str | Reason,
        *,
        hint: str = "hint",
        python: str = "",
        command: str = "",
    ) -> None:
        """`python` makes a file that holds tensors alone, which `command` can do with."""
        super().__init__(hint=hint, path=str(path), why=why, python=python, command=command)


class NoStoreError(InstrideError, OSError):
    """The checkpoints to look at are not there, or may not be read."""

    exit_code = 40
    texts: ClassVar = {
        "message": "cannot look at `{path}`: {why}",
        "hint": "name the directory that `Saver` got, or a checkpoint: `{look}`",
        "hint.closed": "`{look}` shows whose it is and who may read it",
        "hint.away": "`{look}` shows where it leads: bring that back, or delete the link to go on "
        "without it",
        "hint.checkpoint": "name a checkpoint in it: `{command}`",
        "hint.directory": "name the directory that it is in: `instride list {folder}`",
        "hint.list": "`instride list {quoted}` shows what is there",
    }

    def __init__(
        self, path: str, why: str | Reason, *, hint: str = "hint", command: str = ""
    ) -> None:
        """`command` is what was asked for, of a checkpoint in the directory."""
        if hint == "hint" and why in NOT_ALLOWED:
            hint = "hint.closed"
        super().__init__(
            hint=hint,
            path=as_named(path),
            why=why,
            # Where a link leads is asked of the link; what else there is, of the folder behind it.
            look=looking_at(path) if hint == "hint.away" else looking_behind(path),
            folder=quoted_folder(path),
            quoted=shlex.quote(path),
            command=command,
        )


class MissingLibraryError(InstrideError, ImportError):
    """A verb needs a library that is not installed."""

    exit_code = 41
    texts: ClassVar = {
        "message": "`instride {verb}` needs `{name}`, which is not installed",
        "hint": "`python -m pip install 'instride[{extra}]'` installs it",
    }

    def __init__(self, verb: str, name: str, *, extra: str | None = None) -> None:
        """`extra` is what our package calls it, if that is another name."""
        super().__init__(verb=verb, name=name, extra=extra or name)


class NotExportableError(InstrideError, ValueError):
    """There is nothing in a checkpoint that could be exported, or not in that format."""

    exit_code = 42
    texts: ClassVar = {
        "message": "cannot export `{path}`: {why}",
        "hint": "`--part` names what to export, as in `--part model`",
        "hint.file": "`unzip -l {quoted}` shows what the file holds, if it is one of torch's",
    }

    def __init__(self, path: str, why: str | Reason, *, hint: str = "hint") -> None:
        super().__init__(hint=hint, path=path, why=why, quoted=shlex.quote(path))


class OverwriteError(InstrideError, FileExistsError):
    """The file to write is there already."""

    exit_code = 43
    texts: ClassVar = {
        "message": "`{path}` is there already",
        "hint": "`--force` replaces it",
    }

    def __init__(self, path: str) -> None:
        super().__init__(path=path)


class PackError(InstrideError, ValueError):
    """A file cannot be packed or unpacked."""

    exit_code = 44
    texts: ClassVar = {
        "message": "cannot pack `{path}`: {why}",
        "message.unpack": "cannot unpack `{path}`: {why}",
        "hint": "`{look}` shows what is there",
        "hint.packed": "`instride unpack {pack}` gives the file back",
        "hint.base": "a base is a full pack in the same directory: `instride pack {quoted}` makes "
        "one",
        "hint.directory": "name the files in it: `instride pack {quoted}/{pattern}`",
        "hint.unpack": "`instride list {folder}` shows which packs there are",
        "hint.unpack.directory": "name the packs in it: `instride unpack {quoted}/*.pack`",
    }

    def __init__(
        self,
        path: str,
        why: str | Reason,
        *,
        message: str = "message",
        hint: str = "hint",
        pattern: str = "",
        pack: str = "",
    ) -> None:
        """`pattern` is that of files in a directory, `pack` what the file became."""
        super().__init__(
            message,
            hint,
            path=as_named(path),
            why=why,
            quoted=shlex.quote(path),
            folder=quoted_folder(path),
            pattern=pattern,
            pack=shlex.quote(pack),
            look=looking_at(path),
        )
