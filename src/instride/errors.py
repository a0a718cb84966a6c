"""Everything instride raises, and the exit code each error ends a command with.

    InstrideError                          2
    |-- UnknownDialectError   (ValueError) 3   `--dialect` names none of the readers
    |-- BadPatternError       (ValueError) 4   `--pattern` is no regular expression, or lacks groups
    |-- UnreadableLogError    (OSError)    10  missing, a permission, a broken disk
    |-- EmptyLogError         (ValueError) 11
    |-- BinaryLogError        (ValueError) 12
    |-- NoStepsError          (ValueError) 13  no reader found a step
    |-- NoTimesError          (ValueError) 14  steps, but no time that is of use
    |-- NoLogsError           (ValueError) 15  a directory without logs
    `-- UnwritableError       (OSError)    16  the page or the trace cannot be written

A message says what failed, with the value in backticks; the hint is a command that works.
"""

from __future__ import annotations

import os
import shlex
from typing import ClassVar


class InstrideError(Exception):
    """Base of all errors: a message for people, a hint, an exit code."""

    exit_code: ClassVar[int] = 2
    hint: str = ""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint or self.hint


class UnknownDialectError(InstrideError, ValueError):
    """`--dialect` names none of the readers."""

    exit_code = 3

    def __init__(self, name: str, nearest: str | None) -> None:
        meant = f"did you mean `--dialect {nearest}`? " if nearest else ""
        super().__init__(
            f"no dialect is called `{name}`",
            f"{meant}`instride explain --dialects` lists them all",
        )


class BadPatternError(InstrideError, ValueError):
    """`--pattern` is no regular expression, or has no group that could be used."""

    exit_code = 4

    def __init__(self, pattern: str, why: str) -> None:
        super().__init__(
            f"the pattern `{pattern}` cannot be used: {why}",
            r"name the groups, as in --pattern 'step (?P<step>\d+) .* (?P<ms>[\d.]+) ?ms'",
        )


class UnreadableLogError(InstrideError, OSError):
    """The log is missing, or may not be read."""

    exit_code = 10

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"cannot read `{path}`: {why}", "`ls -l` shows what is there")


class EmptyLogError(InstrideError, ValueError):
    """The log has no bytes."""

    exit_code = 11

    def __init__(self, path: str) -> None:
        super().__init__(
            f"`{path}` is empty",
            "if the training still runs, Python may hold its output back: start it with "
            "`PYTHONUNBUFFERED=1`",
        )


class BinaryLogError(InstrideError, ValueError):
    """The file is not text."""

    exit_code = 12

    def __init__(self, path: str) -> None:
        super().__init__(
            f"`{path}` is not a text file",
            "explain reads what the trainer printed: redirect it with "
            "`python train.py 2>&1 | tee train.log`",
        )


class NoStepsError(InstrideError, ValueError):
    """No reader found a step in the log."""

    exit_code = 13

    def __init__(self, path: str, looked_for: str) -> None:
        super().__init__(
            f"no training steps found in `{path}` (looked for {looked_for})",
            r"say what a step looks like: --pattern 'step (?P<step>\d+) .* (?P<ms>[\d.]+) ?ms', "
            "or see `instride explain --dialects`",
        )


class NoTimesError(InstrideError, ValueError):
    """The log has steps but no duration, timestamp or running clock that could be used."""

    exit_code = 14

    def __init__(self, path: str, num_steps: int, what: str) -> None:
        super().__init__(
            f"`{path}` has {num_steps} step{'' if num_steps == 1 else 's'}, but {what}",
            "add times to the lines of the next run: `python train.py 2>&1 | ts "
            "'%Y-%m-%dT%H:%M:%.S' | tee train.log`",
        )


class NoLogsError(InstrideError, ValueError):
    """The directory holds no file that looks like a training log."""

    exit_code = 15

    def __init__(self, path: str, num_files: int) -> None:
        super().__init__(
            f"no training log among the {num_files} files in `{path}`",
            "name the file itself: `instride explain path/to/train.log`",
        )


class UnwritableError(InstrideError, OSError):
    """What was asked for cannot be written there."""

    exit_code = 16

    def __init__(self, path: str, why: str) -> None:
        folder = os.path.dirname(path) or "."  # noqa: PTH120 - pathlib costs start-up time
        super().__init__(
            f"cannot write `{path}`: {why}", f"`mkdir -p {shlex.quote(folder)}` makes the directory"
        )
