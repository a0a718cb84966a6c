"""`instride agent` as people type it: the case's configuration, two of them, signals, status."""

from __future__ import annotations

import json
import os
import pty
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from instride.agent.status import read_status
from instride.store.directory import committed_in
from tests.integration.commands import COMMAND, environment
from tests.unit.agent.agents import names_in, save
from tests.unit.doctor.case_repository import DAEMON
from tests.unit.store.committing import commit, flip, owned_by_this_process

ROOT = Path(__file__).parents[2]
PATIENCE_S = 120.0


def instride(*args: object, code: int = 0, cwd: Path | None = None) -> tuple[str, str]:
    """What a command prints, and its exit code as expected."""
    done = subprocess.run(
        [*COMMAND, *map(str, args)],
        env=environment({"LC_ALL": "C", "COLUMNS": "100"}),
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert done.returncode == code, done.stderr
    return done.stdout, done.stderr


def hear_signals() -> None:
    """Tests that run in the background may have been started with these ignored."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


@contextmanager
def running(*args: object) -> Iterator[subprocess.Popen[str]]:
    """An agent that lives; on return it has said that it watches."""
    process = subprocess.Popen(
        [*COMMAND, "agent", *map(str, args)],
        env=environment({"LC_ALL": "C"}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=hear_signals,
    )
    assert process.stdout is not None
    with process:
        try:
            assert "watching" in process.stdout.readline()
            yield process
        finally:
            if process.poll() is None:
                process.kill()


@pytest.fixture
def checkpoints(tmp_path: Path) -> Path:
    directory = tmp_path / "checkpoints"
    directory.mkdir()
    for step in (1000, 2000, 3000, 4000):
        save(directory, f"step_{step}.pt")
    return directory


def test_the_configuration_of_the_case_is_carried_out_as_it_is(checkpoints: Path) -> None:
    (checkpoints.parent / "config.toml").write_text(DAEMON)
    said, _ = instride("agent", "--config", "config.toml", "--once", cwd=checkpoints.parent)
    assert "step_*.pt to zstd 9; the newest 3 kept" in said
    assert "deleted step_1000.pt" in said
    assert "cost training" in said.splitlines()[-1]
    assert "saved" in said.splitlines()[-1]
    assert names_in(checkpoints) == [
        f"step_{step}.pt{form}" for step in (2000, 3000, 4000) for form in ("", ".zst")
    ]


def test_flags_win_over_the_file(checkpoints: Path, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(DAEMON)
    instride(
        "agent", "--config", tmp_path / "config.toml", "--watch-dir", checkpoints, "--keep", 1,
        "--no-compress", "--once",
    )  # fmt: skip
    assert names_in(checkpoints) == ["step_4000.pt"]
    assert names_in(tmp_path) == ["checkpoints", "config.toml"]


def test_originals_are_removed_when_that_is_asked_for(checkpoints: Path) -> None:
    said, _ = instride("agent", checkpoints, "--keep", 2, "--remove-original", "--once")
    assert names_in(checkpoints) == ["step_3000.pt.zst", "step_4000.pt.zst"]
    assert "once the originals go" not in said
    shown, _ = instride("list", checkpoints)
    assert "packed to" in shown
    assert [checkpoint.step for checkpoint in committed_in(checkpoints)] == [3000, 4000]


def test_a_misspelt_key_is_answered_with_the_one_that_was_meant(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(DAEMON.replace("keep_latest", "keep_lastest"))
    _, said = instride("agent", "--config", tmp_path / "config.toml", code=7)
    assert "[cleanup] keep_lastest" in said
    assert "line 6" in said
    assert "did you mean `keep_latest`?" in said


def test_a_directory_must_be_named(tmp_path: Path) -> None:
    _, said = instride("agent", code=2)
    assert "no directory given" in said
    _, said = instride("agent", tmp_path / "missing", "--once", code=40)
    assert "No such file" in said
    path = save(tmp_path, "step_1.pt")
    _, said = instride("agent", path, code=40)
    assert "Not a directory" in said


def test_a_second_agent_is_refused_and_told_whose_the_directory_is(checkpoints: Path) -> None:
    with running(checkpoints, "--no-compress") as first:
        _, said = instride("agent", checkpoints, "--once", code=31)
        assert f"belongs to the agent with pid {first.pid}" in said
        assert f"instride agent status {checkpoints}" in said
        commit(checkpoints, 1)
        _, said = instride("prune", checkpoints, "--keep-last", 1, code=31)
        assert f"belongs to the agent with pid {first.pid}" in said
        assert read_status(checkpoints).is_running
    instride("agent", checkpoints, "--no-compress", "--once")


def test_the_store_of_a_training_that_runs_is_left_to_it(checkpoints: Path) -> None:
    lock = owned_by_this_process(checkpoints)
    before = names_in(checkpoints)
    _, said = instride("agent", checkpoints, "--keep", 1, "--once", code=31)
    assert f"belongs to the training with pid {os.getpid()}" in said
    assert "prunes by itself" in said
    assert names_in(checkpoints) == before
    lock.release()


@pytest.mark.parametrize(
    ("number", "code", "how"),
    [
        (signal.SIGINT, 130, "ended in order"),
        (signal.SIGTERM, 0, "ended in order"),
        (signal.SIGHUP, 0, "ended in order"),
        (signal.SIGKILL, -9, "was killed"),
    ],
)
def test_signals_end_it_and_status_tells_how(
    checkpoints: Path, number: int, code: int, how: str
) -> None:
    with running(checkpoints) as agent:
        said, _ = instride("agent", "status", checkpoints)
        assert f"an agent runs here: pid {agent.pid}" in said
        agent.send_signal(number)
        agent.communicate(timeout=PATIENCE_S)
        assert agent.returncode == code
    said, _ = instride("agent", "status", checkpoints)
    assert how in said
    assert not list(checkpoints.glob(".*.tmp")) or number == signal.SIGKILL


def test_status_fits_its_schema(checkpoints: Path) -> None:
    instride("agent", checkpoints, "--keep", 1, "--once")
    schema = json.loads((ROOT / "docs/reference/agent-status.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    answer: dict[str, Any] = json.loads(instride("agent", "status", "--json", checkpoints)[0])
    jsonschema.validate(answer, schema)
    assert answer["totals"]["num_compressed"] == 1
    assert answer["totals"]["num_deleted"] == 3
    assert answer["saved_bytes"] > 0
    assert answer["is_running"] is False
    said, _ = instride("agent", "status", cwd=checkpoints)
    assert "compressed 1:" in said


def test_status_of_a_directory_without_an_agent(tmp_path: Path) -> None:
    _, said = instride("agent", "status", tmp_path, code=45)
    assert f"`instride agent {tmp_path}` starts one" in said
    instride("agent", "status", tmp_path / "missing", code=40)


def test_a_corrupted_file_is_recognised(checkpoints: Path) -> None:
    instride("agent", checkpoints, "--once")
    made = checkpoints / "step_4000.pt.zst"
    instride("verify", made)
    flip(made, 1000)
    said, _ = instride("verify", checkpoints, code=30)
    assert "step_4000.pt.zst" in said
    for manifest in (checkpoints / ".instride/manifests").glob("step_4000*"):
        manifest.unlink()
    said, _ = instride("verify", made, code=30)  # by the checksums of its own
    assert "it differs somewhere in the bytes from 0 to " in said


def test_help_of_both(tmp_path: Path) -> None:
    assert "--remove-original" in instride("agent", "--help")[0]
    assert "Usage: instride agent status" in instride("agent", "status", "--help")[0]


def test_on_a_terminal_there_is_a_bar_and_no_date(checkpoints: Path) -> None:
    save(checkpoints, "step_5000.pt", num_bytes=40_000_000)
    master, terminal = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, "agent", checkpoints, "--once"],
        env=environment({"TERM": "xterm", "COLUMNS": "100", "LC_ALL": "C.UTF-8"}),
        stdout=terminal,
        stderr=subprocess.DEVNULL,
    ) as process:
        os.close(terminal)
        shown = b""
        while True:
            try:
                piece = os.read(master, 1 << 16)
            except OSError:  # nobody has the other end any more
                break
            shown += piece
        process.wait(PATIENCE_S)
    os.close(master)
    text = shown.decode(errors="replace")
    assert "step_5000.pt" in text
    assert " %" in text
    assert "saved" in text
    assert sys.executable not in text


def test_systemd_hears_that_it_is_ready_what_it_does_and_that_it_lives(
    checkpoints: Path, tmp_path: Path
) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
        line.bind(str(tmp_path / "notify"))
        line.settimeout(PATIENCE_S)
        told = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "1000000"}
        with subprocess.Popen(
            [*COMMAND, "agent", checkpoints],
            env=environment({**told, "JOURNAL_STREAM": "1:2"}),
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            heard: list[str] = []
            while not any("step_" in each for each in heard) or heard.count("WATCHDOG=1") < 2:
                heard.append(line.recv(1000).decode())
            process.terminate()
            while heard[-1] != "STOPPING=1":
                heard.append(line.recv(1000).decode())
            said, _ = process.communicate(timeout=PATIENCE_S)
    assert heard.index("READY=1") == 0
    assert process.returncode == 0
    assert said.startswith("watching")  # journald has a clock of its own


def test_a_signal_that_is_to_be_ignored_is_ignored(checkpoints: Path) -> None:
    program = f"trap '' INT HUP; exec {' '.join(COMMAND)} agent {checkpoints} --no-compress"
    with subprocess.Popen(
        ["sh", "-c", program], env=environment(), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGHUP)
        _, complaint = instride("agent", checkpoints, "--once", code=31)
        assert f"pid {process.pid}" in complaint
        process.terminate()
        assert process.wait(PATIENCE_S) == 0
