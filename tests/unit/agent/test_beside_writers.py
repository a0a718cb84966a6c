"""Files and directories that change while the agent looks at them."""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

from tests.unit.agent.agents import (
    Lines,
    agent,
    checkpoint_bytes,
    holds,
    names_in,
    run_once,
    running,
    save,
    until,
)

HOLDER = "import sys; file = open(sys.argv[1], 'ab'); print('open', flush=True); input()"
WRITER = """
import sys
with open(sys.argv[1], "wb", buffering=0) as file:
    for line in sys.stdin:
        file.write(bytes.fromhex(line))
        print("written", flush=True)
"""


def test_a_file_that_is_being_written_is_not_touched(tmp_path: Path) -> None:
    data = checkpoint_bytes(num_bytes=300_000)
    path = tmp_path / "step_100.pt"
    lines = Lines()
    worker = agent(tmp_path, lines, interval_s=0.02, removes_original=True)
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert writer.stdin is not None
    assert writer.stdout is not None
    with running(worker):
        with writer:
            for start in range(0, len(data), 20_000):
                writer.stdin.write(data[start : start + 20_000].hex() + "\n")
                writer.stdin.flush()
                writer.stdout.readline()
                looks = worker.num_rounds
                until(lambda: worker.num_rounds >= looks + 2)  # noqa: B023
                assert names_in(tmp_path) == ["step_100.pt"]
        until(lambda: names_in(tmp_path) == ["step_100.pt.zst"])
    assert holds(tmp_path / "step_100.pt.zst", data)
    assert not lines.about("changed meanwhile")


def test_a_directory_may_come_later_and_be_made_anew(tmp_path: Path) -> None:
    directory = tmp_path / "checkpoints"
    lines = Lines()
    worker = agent(directory, lines, interval_s=0.05)
    with running(worker):
        until(lambda: bool(lines.about("not there yet")))
        for _ in range(2):
            directory.mkdir()
            save(directory, "step_1.pt")
            until((directory / "step_1.pt.zst").exists)
            until(partial(gone, directory))
    assert not lines.about("somebody else prunes")


def gone(directory: Path) -> bool:
    """Delete a directory that somebody may write to meanwhile."""
    shutil.rmtree(directory, ignore_errors=True)
    return not directory.exists()


def test_once_tells_what_it_left_because_it_is_being_written(tmp_path: Path) -> None:
    path = save(tmp_path, "step_1.pt")
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert holder.stdout is not None
    with holder:
        holder.stdout.readline()
        lines = run_once(tmp_path)
        holder.communicate(b"\n")
    assert lines.about("step_1.pt is being written")
    assert names_in(tmp_path) == ["step_1.pt"]
