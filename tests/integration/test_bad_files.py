"""Files that are empty, binary, missing or closed to us: each is named, with a hint."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.bad_input import BINARY, EMPTY, NO_LOGS, UNREADABLE, nanogpt
from tests.integration.commands import Screen, as_nobody

pytestmark = pytest.mark.usefixtures("own_directory")


def test_an_empty_file_is_empty(screen: Screen) -> None:
    Path("train.log").touch()
    code, error, hint = screen.refusal("train.log")
    assert (code, error) == (EMPTY, "`train.log` is empty")
    assert "PYTHONUNBUFFERED=1" in hint


def test_several_empty_files_are_empty(screen: Screen) -> None:
    Path("a.log").touch()
    Path("b.log").touch()
    assert screen.refusal("a.log", "b.log")[:2] == (EMPTY, "`a.log` is empty")


@pytest.mark.parametrize("content", [b"PK\x03\x04" + bytes(100), bytes(range(256)), b"iter 1\0\0"])
def test_a_binary_file_is_no_text(screen: Screen, content: bytes) -> None:
    Path("model.pt").write_bytes(content)
    code, error, hint = screen.refusal("model.pt")
    assert (code, error) == (BINARY, "`model.pt` is not a text file")
    assert "tee train.log" in hint


def test_a_binary_file_among_others_is_named(screen: Screen) -> None:
    Path("train.log").write_text(nanogpt(range(50)))
    Path("model.pt").write_bytes(bytes(100))
    assert screen.refusal("train.log", "model.pt")[:2] == (
        BINARY,
        "`model.pt` is not a text file",
    )


@pytest.mark.parametrize("args", [["no.log"], ["no.log", "--json"], ["no/such/directory/"]])
def test_a_file_that_is_missing_is_named(screen: Screen, args: list[str]) -> None:
    code, error, hint = screen.refusal(*args)
    assert code == UNREADABLE
    assert error == f"cannot read `{args[0]}`: No such file or directory"
    assert "ls -l" in hint


def test_one_missing_file_of_several_is_named(screen: Screen) -> None:
    Path("train.log").write_text(nanogpt(range(50)))
    assert "`no.log`" in screen.refusal("train.log", "no.log")[1]


def test_names_that_cannot_be_are_answered(screen: Screen) -> None:
    assert screen.refusal("x" * 5000)[0] == UNREADABLE
    assert screen.refusal("")[0] == UNREADABLE


def test_a_file_that_may_not_be_read_is_named(screen: Screen) -> None:
    Path("train.log").write_text(nanogpt(range(50)))
    screen.show("train.log")
    Path("train.log").chmod(0)
    Path.cwd().chmod(0o755)
    with as_nobody():
        code, error, _ = screen.refusal("train.log")
    assert (code, error) == (UNREADABLE, "cannot read `train.log`: Permission denied")


def test_a_directory_that_may_not_be_read_is_named(screen: Screen) -> None:
    Path("logs").mkdir()
    Path("logs/train.log").write_text(nanogpt(range(50)))
    screen.show("logs")
    Path("logs").chmod(0)
    Path.cwd().chmod(0o755)
    try:
        with as_nobody():
            directory = screen.refusal("logs")
            inside = screen.refusal("logs/train.log")
    finally:
        Path("logs").chmod(0o755)
    Path("logs").chmod(0o744)
    with as_nobody():
        assert screen.refusal("logs")[0] == NO_LOGS
    assert directory[:2] == (UNREADABLE, "cannot read `logs`: Permission denied")
    assert inside[:2] == (UNREADABLE, "cannot read `logs/train.log`: Permission denied")


@pytest.mark.skipif(
    not Path("/proc/self/mem").exists(),
    reason="only Linux has a file that opens, and cannot be read",
)
def test_a_file_that_breaks_while_it_is_read_is_named(screen: Screen) -> None:
    code, error, _ = screen.refusal("/proc/self/mem")
    assert (code, error) == (UNREADABLE, "cannot read `/proc/self/mem`: Input/output error")


def test_a_directory_without_logs_is_named(screen: Screen) -> None:
    Path("logs").mkdir()
    assert screen.refusal("logs")[:2] == (NO_LOGS, "there is no file in `logs`")
    for name in ("notes.txt", "train.py", "empty.log"):
        Path("logs", name).write_text("" if "empty" in name else "nothing\n")
    code, error, hint = screen.refusal("logs")
    assert (code, error) == (NO_LOGS, "no training log among the 3 files in `logs`")
    assert "instride explain path/to/train.log" in hint
