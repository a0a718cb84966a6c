"""What can be wrong with a log, or with how it is to be read."""

from __future__ import annotations

import os
import shlex
from typing import ClassVar

from instride.errors.base import InstrideError, quoted_folder
from instride.reasons import Reason


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
        "hint.there": "`df -h {folder}` and `ls -ld {folder}` show space and permissions",
        "hint.directory": "name a file in it; `ls -l {folder}` shows which there are",
    }

    def __init__(self, path: str, why: str | Reason) -> None:
        """`path` is a file, or a directory that something in it was to be changed of."""
        is_directory = os.path.isdir(path)  # noqa: PTH112 - pathlib costs start-up time
        folder = shlex.quote(path) if is_directory else quoted_folder(path)
        hint = "hint"
        if is_directory and why == Reason("os.EISDIR"):
            hint = "hint.directory"
        elif os.path.lexists(os.path.dirname(path) or "."):  # noqa: PTH120 - the same
            hint = "hint.there"
        super().__init__(hint=hint, path=path, why=why, folder=folder)
