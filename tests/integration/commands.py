"""What the tests of the commands share: the command in this process or in one of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from rich.cells import cell_len

import instride
from instride.cli.main import main

ANSWERED = (0, 1)
"""Exit codes with an answer on standard output."""
COLUMNS = 80
COMMAND = [sys.executable, "-m", "instride"]


class Screen:
    """Runs a verb in this process."""

    def __init__(self, verb: str, capsys: pytest.CaptureFixture[str]) -> None:
        self._verb, self._capsys = verb, capsys

    def show(self, *args: str) -> str:
        code = main([self._verb, *args])
        captured = self._capsys.readouterr()
        assert code in ANSWERED, captured.err
        assert captured.err == ""
        return captured.out

    def answer(self, *args: str) -> dict[str, Any]:
        return strict_json(self.show("--json", *args))

    def refusal(self, *args: str) -> tuple[int, str, str]:
        """Exit code, error and hint, each of one line."""
        code, said = self.complaint(*args)
        found = re.fullmatch(r"error: ([^\n]+)\n\nhint: ([^\n]+)\n", said)
        assert found is not None, said
        return code, found[1], found[2]

    def complaint(self, *args: str) -> tuple[int, str]:
        code = main([self._verb, *args])
        captured = self._capsys.readouterr()
        assert captured.out == ""
        return code, captured.err


def strict_json(text: str) -> dict[str, Any]:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    answer = json.loads(text, parse_constant=refuse)
    assert isinstance(answer, dict)
    return answer


def run(
    args: list[str], env: Mapping[str, str] | None = None, stdin: bytes | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run the command in a process of its own."""
    return subprocess.run(
        [*COMMAND, *args],
        input=stdin,
        capture_output=True,
        check=False,
        timeout=60,
        env=environment(env),
    )


def environment(env: Mapping[str, str] | None = None) -> dict[str, str]:
    """For a process that finds the same package as this one."""
    return {**os.environ, "PYTHONPATH": str(Path(instride.__file__).parents[1]), **(env or {})}


def observed(answer: dict[str, Any]) -> tuple[int, int, int]:
    steps = answer["steps"]
    return steps["first"], steps["last"], steps["observed"]


def too_wide(printed: str, columns: int = COLUMNS) -> list[str]:
    return [line for line in printed.splitlines() if cell_len(line) > columns]


@contextmanager
def as_nobody() -> Iterator[None]:
    """Root may read everything, so for a moment we are not root."""
    if sys.platform == "win32":
        pytest.skip("nobody can be somebody else for a moment on Windows")
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(before)
