"""The screen of `instride explain`: width, colours, encodings, and how it ends."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from rich.cells import cell_len

from instride.cli.main import main
from tests.integration.commands import (
    ANSWERED,
    COLUMNS,
    COMMAND,
    Screen,
    environment,
    run,
    too_wide,
)
from tests.integration.logs import nanogpt, torchtitan

pytestmark = pytest.mark.usefixtures("own_directory")


@pytest.mark.parametrize("env", [{}, {"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_output_that_is_no_terminal_has_no_escape_codes(env: dict[str, str]) -> None:
    Path("train.log").write_text(nanogpt(0, 500))
    for args in (["train.log"], ["--json", "train.log"], ["--dialects"]):
        done = run(["explain", *args], env)
        assert done.returncode in ANSWERED, done.stderr
        assert b"\x1b" not in done.stdout


def in_terminal(args: list[str], env: Mapping[str, str] | None = None) -> bytes:
    """What the command prints into a terminal of 80 columns."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *args],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment({"TERM": "xterm-256color", "COLUMNS": "80", **(env or {})}),
    )
    os.close(theirs)
    printed = b""
    try:
        while block := os.read(ours, 1 << 16):
            printed += block
    except OSError:
        # Linux says so instead of ending the stream.
        pass
    os.close(ours)
    assert process.wait(60) in ANSWERED
    return printed


def test_a_terminal_gets_colours_unless_they_are_not_wanted() -> None:
    Path("train.log").write_text(nanogpt(0, 500))
    coloured = in_terminal(["explain", "train.log"])
    plain = in_terminal(["explain", "train.log"], {"NO_COLOR": "1"})
    colour = rb"\x1b\[[0-9;]*3[0-9][0-9;]*m"
    assert re.search(colour, coloured)
    assert not re.search(colour, plain)


@pytest.mark.parametrize(
    "text",
    [
        nanogpt(0, 500),
        nanogpt(0, 300) + nanogpt(250, 600),
        nanogpt(10**9, 10**9 + 400, pause_every=50, ms=1e7),
        torchtitan(10, 3000, start_s=0) + torchtitan(2500, 4000, start_s=90_000),
        nanogpt(0, 500).replace("3.3005", "3.3005" + " \u4e2d\u6587" * 40),
        nanogpt(0, 3),
    ],
    ids=["nanogpt", "restart", "huge numbers", "torchtitan", "wide characters", "short"],
)
def test_every_line_fits_into_80_columns(screen: Screen, text: str) -> None:
    Path("train.log").write_text(text, encoding="utf-8")
    printed = screen.show("train.log")
    assert too_wide(printed) == []


@pytest.mark.parametrize("length", [20, 30, 40, 50, 60, 70, 90, 150])
def test_every_line_but_a_command_fits_whatever_the_log_is_called(
    screen: Screen, length: int
) -> None:
    name = "x" * (length - 4) + ".log"
    Path(name).write_text(nanogpt(0, 300))
    printed = screen.show(name)
    command = f"next: instride explain {name} --json"
    assert set(too_wide(printed)) <= {command}
    assert command in printed


@pytest.mark.parametrize(("columns", "widest"), [("72", 72), ("100", 100), ("300", 100)])
def test_columns_in_the_environment_say_how_wide_a_pipe_is(
    screen: Screen, monkeypatch: pytest.MonkeyPatch, columns: str, widest: int
) -> None:
    Path("train.log").write_text(nanogpt(0, 500))
    monkeypatch.setenv("COLUMNS", columns)
    printed = screen.show("train.log")
    assert widest - 1 <= max(cell_len(line) for line in printed.splitlines()) <= widest


@pytest.mark.parametrize("columns", ["", "wide", "-5"])
def test_columns_that_are_no_number_are_80(
    screen: Screen, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    Path("train.log").write_text(nanogpt(0, 500))
    monkeypatch.setenv("COLUMNS", columns)
    assert max(cell_len(line) for line in screen.show("train.log").splitlines()) == COLUMNS


def test_every_line_fits_however_many_parts_there_are(screen: Screen) -> None:
    for part in range(30):
        Path(f"part{part}.log").write_text(nanogpt(part * 50, part * 50 + 50))
    printed = screen.show(".")
    assert too_wide(printed) == []


def test_every_line_fits_for_real_logs(
    cases: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(cases)
    too_wide = []
    for log in sorted(cases.iterdir()):
        code = main(["explain", log.name])
        captured = capsys.readouterr()
        assert code in (*ANSWERED, 13), (log.name, captured.err)
        lines = captured.out.splitlines()
        too_wide += [(log.name, line) for line in lines if cell_len(line) > COLUMNS]
    assert too_wide == []


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp437", "utf-8"])
def test_terminals_with_few_characters_get_what_they_can_show(encoding: str) -> None:
    text = nanogpt(0, 500).replace("val loss", "val \u4e2d\U0001f680 loss")
    Path("train.log").write_text(text, encoding="utf-8")
    done = run(["explain", "train.log"], {"PYTHONIOENCODING": encoding})
    assert done.returncode in ANSWERED, done.stderr
    assert done.stderr == b""
    printed = done.stdout.decode(encoding)
    assert "Where the time went" in printed
    assert all(cell_len(line) <= COLUMNS for line in printed.splitlines())


@pytest.mark.skipif(sys.platform == "win32", reason="there is no head")
@pytest.mark.parametrize("option", [[], ["--json"]])
def test_a_reader_that_goes_away_is_no_error(option: list[str]) -> None:
    Path("train.log").write_text(nanogpt(0, 20_000, pause_every=10))
    process = subprocess.Popen(
        [*COMMAND, "explain", *option, "train.log"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    complaint = process.stderr.read()
    process.stderr.close()
    assert (process.wait(60), complaint) == (0, b"")


@pytest.mark.skipif(sys.platform == "win32", reason="signals are a thing of Unix")
def test_ctrl_c_ends_with_130_and_without_a_traceback() -> None:
    process = subprocess.Popen(
        [*COMMAND, "explain", "--follow", "train.log"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment({"PYTHONUNBUFFERED": "1"}),
        # A shell starts what runs in its background with Ctrl-C ignored, these tests perhaps too.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"waiting for train.log\n"
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in complaint
