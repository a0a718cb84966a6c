"""A child does not outlive who asked it, and who asked does not wait for what is over."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from instride.bench.asking import ask
from instride.bench.orders import Order, Task, Timed


def test_an_interruption_in_the_worst_moment_leaves_no_child_and_nothing_to_wait_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A thread that is no daemon would keep the command from ending until its alarm goes off."""
    started: list[subprocess.Popen[bytes]] = []

    class Noted(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            started.append(self)

    def start_and_be_interrupted(timer: threading.Timer) -> None:
        threading.Thread.start(timer)
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess, "Popen", Noted)
    monkeypatch.setattr(threading.Timer, "start", start_and_be_interrupted)
    before = set(threading.enumerate())
    with pytest.raises(KeyboardInterrupt):
        ask(Order(Task.TIME, str(tmp_path), "none", num_params=1), Timed)
    assert [child.poll() for child in started] == [-9]
    assert all(thread.daemon for thread in set(threading.enumerate()) - before)


@pytest.mark.torch
@pytest.mark.skipif(sys.platform != "linux", reason="children end with their parent on Linux")
def test_a_child_whose_parent_ended_while_it_started_does_nothing() -> None:
    """Asked to end with its parent from then on, it would never hear of it."""
    pytest.importorskip("torch")
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    done = subprocess.run(
        [sys.executable, "-m", "instride.bench.child", "no order", str(gone.pid)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.strip().endswith(f"process {gone.pid}, has ended")
