"""What can be wrong with what doctor is asked to look at."""

from __future__ import annotations

from typing import ClassVar

from instride.errors.base import InstrideError
from instride.reasons import Reason


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


class NoRepositoryError(InstrideError, OSError):
    """The repository that doctor is to look at is missing, or is no directory."""

    exit_code = 20
    texts: ClassVar = {
        "message": "cannot look at `{path}`: {why}",
        "hint": "name the directory of the training code, as in `instride doctor .`",
    }

    def __init__(self, path: str, why: str | Reason) -> None:
        super().__init__(path=path, why=why)
