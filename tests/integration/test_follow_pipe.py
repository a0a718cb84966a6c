"""`--follow` of standard input, which cannot be read twice."""

from __future__ import annotations

import io
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from instride.cli.following import follow_log
from instride.errors import NoStepsError, UnreadableLogError
from tests.integration.scripts import Action, Script, nanogpt, screens


class Pipe:
    """Standard input that a test writes into."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        reading, self.writing = os.pipe()
        self.stdin = os.fdopen(reading)
        monkeypatch.setattr(sys, "stdin", self.stdin)
        self.printed = io.StringIO()

    def write(self, text: str) -> Action:
        return lambda: os.write(self.writing, text.encode())

    def end(self) -> None:
        os.close(self.writing)

    def follow(self, *actions: Action) -> str:
        """Follow until the pipe ends, with an action in each pause as long as there are any."""
        script = Script(*actions)

        def sleep(seconds: float) -> None:
            if script.actions:
                script(seconds)
            # Lets the thread that copies the pipe go on.
            time.sleep(0)

        console = Console(file=self.printed, width=80, highlight=False)
        follow_log("-", None, (), console, sleep)
        return self.printed.getvalue()


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pipe]:
    pipe = Pipe(monkeypatch)
    yield pipe
    pipe.stdin.close()


def test_a_pipe_is_followed_to_its_end(pipe: Pipe) -> None:
    printed = pipe.follow(pipe.write(nanogpt(0, 20)), pipe.write(nanogpt(20, 40)), pipe.end)
    assert screens(printed)[-1] == "39"
    assert "standard input  (nanoGPT)" in printed


def test_what_was_in_the_pipe_at_its_end_is_shown(pipe: Pipe) -> None:
    os.write(pipe.writing, nanogpt(0, 30).encode())
    pipe.end()
    assert screens(pipe.follow())[-1] == "29"


def test_a_pipe_that_ends_without_a_step_is_an_error(pipe: Pipe) -> None:
    with pytest.raises(NoStepsError, match="found in `-`"):
        pipe.follow(pipe.write("hello\n"), pipe.end)
    assert "nothing to show yet" in pipe.printed.getvalue()


def test_the_copy_of_a_pipe_is_gone_afterwards(
    pipe: Pipe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    pipe.follow(pipe.write(nanogpt(0, 20)), pipe.end)
    assert list(tmp_path.iterdir()) == []


def test_a_pipe_that_cannot_be_read_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handle = os.open(tmp_path, os.O_RDONLY)

    class Directory:
        def fileno(self) -> int:
            return handle

    monkeypatch.setattr(sys, "stdin", Directory())
    console = Console(file=io.StringIO())
    with pytest.raises(UnreadableLogError, match="`-`: Is a directory"):
        follow_log("-", None, (), console, lambda seconds: None)
    os.close(handle)
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(UnreadableLogError, match="standard input is closed"):
        follow_log("-", None, (), console, lambda seconds: None)
