"""Why a benchmark could not be run, or cannot be gone on with."""

from __future__ import annotations

import itertools
import os
import shlex
from collections.abc import Iterable
from typing import ClassVar

from instride.errors.base import InstrideError


class BenchFailedError(InstrideError, RuntimeError):
    """A benchmark could not be run here."""

    exit_code = 50
    texts: ClassVar = {
        "message": "the benchmark could not be run: {why}",
        "message.device": "torch finds no device `{why}` here",
        "hint": "fewer parameters need less memory and disk: `--params 1000000`",
        "hint.device": "`--device cpu` measures ways of saving without a GPU",
    }

    def __init__(self, why: str, *, is_device: bool = False) -> None:
        """`is_device`: it is the name of one that is not there."""
        form = ".device" if is_device else ""
        super().__init__(f"message{form}", f"hint{form}", why=why)


class CannotResumeError(InstrideError, ValueError):
    """`--resume` of a benchmark names a file that cannot be gone on with."""

    exit_code = 52
    texts: ClassVar = {
        "message": "`{path}` was measured under other conditions: {theirs} instead of {ours}",
        "message.foreign": "`{path}` holds no answers of `instride bench save`",
        "message.busy": "another `instride bench save` goes on with `{path}`",
        "hint": "`--resume {fresh}` begins anew, in a file of its own",
        "hint.busy": "wait for its end, two at once slow each other down; "
        "`pgrep -af 'bench save'` shows it",
    }

    def __init__(
        self,
        path: str,
        theirs: Iterable[str] = (),
        ours: Iterable[str] = (),
        *,
        message: str = "message",
        hint: str = "hint",
    ) -> None:
        """`theirs` and `ours` name the conditions that differ, with their values."""
        super().__init__(
            message,
            hint,
            path=path,
            theirs=_quoted(theirs),
            ours=_quoted(ours),
            fresh=shlex.quote(_not_there_yet(path)),
        )


def _quoted(conditions: Iterable[str]) -> str:
    return ", ".join(f"`{each}`" for each in conditions)


def _not_there_yet(path: str) -> str:
    """A name like it that is free."""
    stem, ending = os.path.splitext(path)  # noqa: PTH122 - pathlib costs start-up time
    names = (f"{stem}-{number}{ending}" for number in itertools.count(2))
    return next(name for name in names if not os.path.lexists(name))
