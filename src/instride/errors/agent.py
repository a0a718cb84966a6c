"""What can be wrong with what the agent is told."""

from __future__ import annotations

import shlex
from typing import ClassVar

from instride.errors.base import InstrideError
from instride.reasons import Reason


class BadConfigError(InstrideError, ValueError):
    """The configuration file of the agent cannot be used."""

    exit_code = 7
    texts: ClassVar = {
        "message": "`{setting}` in `{path}`, line {line}, cannot be used: {why}",
        "message.file": "`{path}` cannot be used: {why}",
        "hint": "the sections are `[watcher]` path, pattern, interval; `[cleanup]` keep_latest; "
        "`[compression]` enabled, level, format, remove_original; `[governor]` budget, mode, "
        "deadline, log",
    }

    def __init__(
        self,
        path: str,
        why: Reason,
        setting: str = "",
        line: int = 0,
        *,
        message: str = "message",
    ) -> None:
        super().__init__(message, path=path, why=why, setting=setting, line=str(line))


class NoAgentError(InstrideError, OSError):
    """No agent ever worked in the directory."""

    exit_code = 45
    texts: ClassVar = {
        "message": "no agent has been in `{path}`",
        "hint": "`instride agent {quoted}` starts one",
    }

    def __init__(self, path: str) -> None:
        super().__init__(path=path, quoted=shlex.quote(path))
