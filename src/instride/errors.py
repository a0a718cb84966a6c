"""Everything instride raises, and the exit code each error ends a command with.

    InstrideError                          2
    |-- UnknownDialectError   (ValueError) 3   `--dialect` names none of the readers
    |-- BadPatternError       (ValueError) 4   `--pattern` cannot be compiled, or lacks groups
    |-- UnknownRuleError      (ValueError) 5   `--only`, or a line that silences, names no rule
    |-- BadSettingError       (ValueError) 6   `[tool.instride.doctor]` of a repository is wrong
    |-- UnreadableLogError    (OSError)    10  missing, a permission, a broken disk
    |-- EmptyLogError         (ValueError) 11
    |-- BinaryLogError        (ValueError) 12
    |-- NoStepsError          (ValueError) 13  no reader found a step
    |-- NoTimesError          (ValueError) 14  steps, but no time that is of use
    |-- NoLogsError           (ValueError) 15  a directory without logs
    |-- UnwritableError       (OSError)    16  the page or the trace cannot be written
    |-- NoRepositoryError     (OSError)    20  the repository is missing, or no directory
    |-- DamagedError          (ValueError) 30  a checkpoint is not what was written
    |-- StoreInUseError     (RuntimeError) 31  another trainer that runs owns the directory
    |-- SaveFailedError       (OSError)    32  a checkpoint could not be written
    |-- NoCheckpointError (FileNotFoundError) 33
    |-- UnsafeStateError      (ValueError) 34  `strict=True`, and not only numbers and tensors
    |-- StorageStuckError   (TimeoutError) 35  the disk does not answer
    |-- StateTooLargeError   (MemoryError) 36  no room for a snapshot
    |-- MismatchError         (ValueError) 37  a checkpoint and what it is restored into differ
    |-- UnsafeCheckpointError (ValueError) 38  reading it could run code
    |-- SaveSkippedError    (RuntimeError) 39  the one before was still being written
    |-- NoStoreError             (OSError) 40  the checkpoints to look at are not there
    |-- MissingLibraryError  (ImportError) 41  a verb needs what is not installed
    |-- NotExportableError    (ValueError) 42  nothing in a checkpoint that could be exported
    |-- OverwriteError   (FileExistsError) 43  the file to write is there already
    |-- PackError             (ValueError) 44  a file cannot be packed or unpacked
    |-- BenchFailedError    (RuntimeError) 50  a benchmark could not be run here
    `-- NeedsLinuxError     (RuntimeError) 51  the Saver on another system

A message says what failed, with the value in backticks; the hint is a command that works. An error
carries texts with gaps, and facts that fill them: its own words are English, and `cli` lets a
language fill the texts that it has under the same names.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping
from typing import ClassVar

from instride.reasons import Fact, Reason, fill

ALIKE = 0.7
"""From which a name is taken for another one, misspelt; 1.0 is equal."""


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


class UnknownDialectError(InstrideError, ValueError):
    """`--dialect` names none of the readers."""

    exit_code = 3
    texts: ClassVar = {
        "message": "no dialect is called `{name}`",
        "hint": "`instride explain --dialects` lists them all",
        "hint.near": "did you mean `--dialect {nearest}`? `instride explain --dialects` lists them "
        "all",
    }

    def __init__(self, name: str, nearest: str | None) -> None:
        super().__init__(hint="hint.near" if nearest else "hint", name=name, nearest=nearest or "")


class BadPatternError(InstrideError, ValueError):
    """`--pattern` is not a regular expression, or has no group that could be used."""

    exit_code = 4
    texts: ClassVar = {
        "message": "the pattern `{pattern}` cannot be used: {why}",
        "hint": r"name the groups, as in --pattern 'step (?P<step>\d+) .* (?P<ms>[\d.]+) ?ms'",
    }

    def __init__(self, pattern: str, why: str | Reason) -> None:
        super().__init__(pattern=pattern, why=why)


class UnknownRuleError(InstrideError, ValueError):
    """A rule of doctor that does not exist: in `--only`, or where one is silenced."""

    exit_code = 5
    texts: ClassVar = {
        "message": "no rule is called `{name}`",
        "message.where": "no rule is called `{name}` ({where})",
        "hint": "`instride doctor --rules` lists them all",
        "hint.near": "did you mean `{nearest}`? `instride doctor --rules` lists them all",
    }

    def __init__(self, name: str, nearest: str | None, where: str = "") -> None:
        super().__init__(
            "message.where" if where else "message",
            "hint.near" if nearest else "hint",
            name=name,
            nearest=nearest or "",
            where=where,
        )


class BadSettingError(InstrideError, ValueError):
    """`[tool.instride.doctor]` in the `pyproject.toml` of a repository cannot be used."""

    exit_code = 6
    texts: ClassVar = {
        "message": "`{setting}` in pyproject.toml cannot be used: {why}",
        "hint": 'it is written as `ignore = ["save-in-place"]` and `exclude = ["vendor/*"]`',
    }

    def __init__(self, setting: str, why: str | Reason) -> None:
        super().__init__(setting=setting, why=why)


class UnreadableLogError(InstrideError, OSError):
    """The log is missing, or may not be read."""

    exit_code = 10
    texts: ClassVar = {
        "message": "cannot read `{path}`: {why}",
        "hint": "`ls -l` shows what is there",
    }

    def __init__(self, path: str, why: str | Reason) -> None:
        super().__init__(path=path, why=why)


class EmptyLogError(InstrideError, ValueError):
    """The log has no bytes."""

    exit_code = 11
    texts: ClassVar = {
        "message": "`{path}` is empty",
        "hint": "if the training still runs, Python may hold its output back: start it with "
        "`PYTHONUNBUFFERED=1`",
    }

    def __init__(self, path: str) -> None:
        super().__init__(path=path)


class BinaryLogError(InstrideError, ValueError):
    """The file is not text."""

    exit_code = 12
    texts: ClassVar = {
        "message": "`{path}` is not a text file",
        "hint": "explain reads what the trainer printed: redirect it with "
        "`python train.py 2>&1 | tee train.log`",
    }

    def __init__(self, path: str) -> None:
        super().__init__(path=path)


class NoStepsError(InstrideError, ValueError):
    """No reader found a step in the log."""

    exit_code = 13
    texts: ClassVar = {
        "message": "no training steps found in `{path}` (looked for {looked_for})",
        "hint": r"say what a step looks like: --pattern 'step (?P<step>\d+) .* (?P<ms>[\d.]+) ?ms'"
        ", or see `instride explain --dialects`",
    }

    def __init__(self, path: str, looked_for: str | Reason) -> None:
        super().__init__(path=path, looked_for=looked_for)


class NoTimesError(InstrideError, ValueError):
    """The log has steps but no duration, timestamp or running clock that could be used."""

    exit_code = 14
    texts: ClassVar = {
        "message": "`{path}` has {num_steps} steps, but {what}",
        "message.one": "`{path}` has 1 step, but {what}",
        "hint": "add times to the lines of the next run: `python train.py 2>&1 | ts "
        "'%Y-%m-%dT%H:%M:%.S' | tee train.log`",
    }

    def __init__(self, path: str, num_steps: int, what: str | Reason) -> None:
        message = "message.one" if num_steps == 1 else "message"
        super().__init__(message, path=path, num_steps=num_steps, what=what)


class NoLogsError(InstrideError, ValueError):
    """The directory holds no file that looks like a training log."""

    exit_code = 15
    texts: ClassVar = {
        "message": "no training log among the {num_files} files in `{path}`",
        "message.one": "the only file in `{path}` is not a training log",
        "message.none": "there is no file in `{path}`",
        "hint": "name the log itself: `instride explain path/to/train.log`",
    }

    def __init__(self, path: str, num_files: int) -> None:
        message = {0: "message.none", 1: "message.one"}.get(num_files, "message")
        super().__init__(message, path=path, num_files=num_files)


class UnwritableError(InstrideError, OSError):
    """What was asked for cannot be written there."""

    exit_code = 16
    texts: ClassVar = {
        "message": "cannot write `{path}`: {why}",
        "hint": "`mkdir -p {folder}` makes the directory",
    }

    def __init__(self, path: str, why: str | Reason) -> None:
        super().__init__(path=path, why=why, folder=_quoted_folder(path))


class NoRepositoryError(InstrideError, OSError):
    """The repository that doctor is to look at is missing, or is no directory."""

    exit_code = 20
    texts: ClassVar = {
        "message": "cannot look at `{path}`: {why}",
        "hint": "name the directory of the training code, as in `instride doctor .`",
    }

    def __init__(self, path: str, why: str | Reason) -> None:
        super().__init__(path=path, why=why)


class DamagedError(InstrideError, ValueError):
    """A checkpoint is not what was written."""

    exit_code = 30
    texts: ClassVar = {
        "message": "the checkpoint `{path}` is damaged: {why}",
        "hint": "`instride list {folder}` shows which others there are",
    }

    def __init__(self, path: object, why: str | Reason) -> None:
        super().__init__(path=str(path), why=why, folder=_quoted_folder(str(path)))


class StoreInUseError(InstrideError, RuntimeError):
    """Another trainer that runs saves into the same directory."""

    exit_code = 31
    texts: ClassVar = {
        "message": "`{directory}` belongs to the training with pid {pid} on {host}, which runs",
        "hint": "give this training a directory of its own, or stop the other: `kill {pid}`",
        "hint.prune": "it prunes by itself, as its `keep=` says; what would go now is shown by "
        "`instride prune {quoted} --keep-last 3 --dry-run`",
    }

    def __init__(self, directory: str, host: str, pid: int, *, hint: str = "hint") -> None:
        quoted = shlex.quote(directory)
        super().__init__(hint=hint, directory=directory, host=host, pid=str(pid), quoted=quoted)


class SaveFailedError(InstrideError, OSError):
    """A checkpoint could not be written; training was not stopped."""

    exit_code = 32
    texts: ClassVar = {
        "message": "the checkpoint `{path}` was not saved: {why}",
        "hint": "`df -h {folder}` and `ls -ld {folder}` show the disk and the permissions",
    }

    def __init__(self, path: object, why: str | Reason) -> None:
        super().__init__(path=str(path), why=why, folder=_quoted_folder(str(path)))


class NoCheckpointError(InstrideError, FileNotFoundError):
    """There is no whole checkpoint where one is needed."""

    exit_code = 33
    texts: ClassVar = {
        "message": "no whole checkpoint in `{directory}`",
        "message.step": "no whole checkpoint of step {step} in `{directory}`",
        "message.foreign": "instride did not write `{directory}`: there is no manifest to compare "
        "it with",
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
        """`is_listed`: every checkpoint was looked at; `is_foreign`: it is one file of somebody."""
        message, hint = "message" if step is None else "message.step", "hint"
        if is_foreign:
            message, hint = "message.foreign", "hint.foreign"
        elif is_listed:
            hint = "hint.list"
        super().__init__(
            message,
            hint,
            directory=str(directory),
            step=str(step),
            quoted=shlex.quote(str(directory)),
        )


class UnsafeStateError(InstrideError, ValueError):
    """`strict=True`, and the state holds what `torch.load(weights_only=True)` refuses."""

    exit_code = 34
    texts: ClassVar = {
        "message": "`torch.load(weights_only=True)` would refuse this state because of {names}",
        "hint": "save numbers, strings and tensors instead, or leave out `strict=True`",
    }

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__(names=", ".join(f"`{name}`" for name in names))


class StorageStuckError(InstrideError, TimeoutError):
    """The disk does not answer."""

    exit_code = 35
    texts: ClassVar = {
        "message": "nothing was written to `{path}` for {seconds}: its disk does not answer",
        "hint": "the writer goes on by itself when the disk comes back: `instride list {folder}`",
    }

    def __init__(self, path: object, seconds: float) -> None:
        super().__init__(path=str(path), seconds=seconds, folder=_quoted_folder(str(path)))


class StateTooLargeError(InstrideError, MemoryError):
    """State that only `torch.save` can handle does not fit into the memory that is left."""

    exit_code = 36
    texts: ClassVar = {
        "message": "a snapshot of {wanted} MB does not fit into the {room} MB that may be used",
        "hint": "`free -m` shows the memory; `Saver(memory_bytes=...)` sets the limit",
    }

    def __init__(self, wanted_bytes: int, room_bytes: int) -> None:
        super().__init__(wanted=wanted_bytes >> 20, room=room_bytes >> 20)


class MismatchError(InstrideError, ValueError):
    """A checkpoint and what it is to be restored into do not fit together."""

    exit_code = 37
    texts: ClassVar = {
        "message": "`{path}` does not fit: {why}",
        "hint": "`saver.restore(strict=False)` takes what fits and says what it left out",
    }

    def __init__(self, path: object, why: str | Reason) -> None:
        super().__init__(path=str(path), why=why)


class UnsafeCheckpointError(InstrideError, ValueError):
    """A checkpoint holds what only a full unpickling could read."""

    exit_code = 38
    texts: ClassVar = {
        "message": "`{path}` holds values that could run code when they are read: {why}",
        "hint": "if you made the file yourself: `restore(weights_only=False)`",
        "hint.export": "if you made the file yourself: `torch.load(..., weights_only=False)`, then "
        "save its tensors alone",
    }

    def __init__(self, path: object, why: str | Reason, *, hint: str = "hint") -> None:
        super().__init__(hint=hint, path=str(path), why=why)


class SaveSkippedError(InstrideError, RuntimeError):
    """A save was left out because the one before was still being written."""

    exit_code = 39
    texts: ClassVar = {
        "message": "`{path}` was skipped: the snapshot before it is still being written",
        "hint": "save less often, or wait for it with `Saver(when_busy='wait')`",
    }

    def __init__(self, path: object) -> None:
        super().__init__(path=str(path))


class NoStoreError(InstrideError, OSError):
    """The checkpoints to look at are not there, or may not be read."""

    exit_code = 40
    texts: ClassVar = {
        "message": "cannot look at `{path}`: {why}",
        "hint": "name the directory that `Saver` got, or a checkpoint: `ls -ld {folder}`",
    }

    def __init__(self, path: str, why: str | Reason) -> None:
        super().__init__(path=path, why=why, folder=_quoted_folder(path))


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
        "hint": "`ls -l {quoted}` shows what is there",
        "hint.base": "a base is a full pack in the same directory: `instride pack {quoted}` makes "
        "one",
        "hint.unpack": "`instride list {folder}` shows which packs there are",
    }

    def __init__(
        self, path: str, why: str | Reason, *, message: str = "message", hint: str = "hint"
    ) -> None:
        super().__init__(
            message,
            hint,
            path=path,
            why=why,
            quoted=shlex.quote(path),
            folder=_quoted_folder(path),
        )


class BenchFailedError(InstrideError, RuntimeError):
    """A benchmark could not be run here."""

    exit_code = 50
    texts: ClassVar = {
        "message": "the benchmark could not be run: {why}",
        "hint": "fewer parameters need less memory and disk: `--params 1000000`",
    }

    def __init__(self, why: str) -> None:
        super().__init__(why=why)


class NeedsLinuxError(InstrideError, RuntimeError):
    """The Saver needs shared memory and process descriptors that only Linux has."""

    exit_code = 51
    texts: ClassVar = {
        "message": "saving in the background needs Linux; this is `{system}`",
        "hint": "save with `torch.save` here; `instride explain` and `instride doctor` work",
    }

    def __init__(self, system: str) -> None:
        super().__init__(system=system)


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The name that was meant, if one is that much alike; dashes and case do not count."""
    import difflib

    bare = {_bare(each): each for each in names}
    found = difflib.get_close_matches(_bare(name), bare, n=1, cutoff=ALIKE)
    return bare[found[0]] if found else None


def _bare(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


def _quoted_folder(path: str) -> str:
    return shlex.quote(os.path.dirname(path) or ".")  # noqa: PTH120 - pathlib costs start-up time
