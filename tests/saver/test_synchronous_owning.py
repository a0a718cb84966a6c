"""Who owns a store where nothing can be done in the background, and who is waited for."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest

import instride
from instride.errors import SaveFailedError, StoreInUseError
from instride.saver import synchronous
from instride.store import lock
from tests.crash.checks import steps_in
from tests.crash.trainings import Weights

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore:instride. Linux lacks:RuntimeWarning", "ignore:Sparse"),
    pytest.mark.usefixtures("nothing_in_the_background"),
]


def test_a_store_has_one_owner(tmp_path: Path) -> None:
    first = instride.Saver(tmp_path, weights=Weights(10))
    with pytest.raises(StoreInUseError, match="another Saver of this process"):
        instride.Saver(tmp_path, weights=Weights(10))
    first.close()

    instride.Saver(tmp_path, weights=Weights(10)).close()


def held_by(pid: int, store: Path) -> lock.StoreLock:
    """As by a process that prunes, or finishes for a training that is gone."""
    started = lock.started_at(pid) or 0
    held = lock.StoreLock(store)
    holder = lock.Owner(socket.gethostname(), 0, 0, pid, is_leaving=True, writer_started=started)
    assert held.try_take(holder) is None
    return held


def test_whoever_only_prunes_there_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names no trainer: a training that was refused for it would be told to `kill 0`."""
    instride.Saver(tmp_path, weights=Weights(10)).close()
    pid = os.getpid()
    held = held_by(pid, tmp_path)
    clock = SimpleNamespace(monotonic=time.monotonic, sleep=lambda _seconds: held.release())
    monkeypatch.setattr(synchronous, "time", clock)

    with pytest.warns(RuntimeWarning, match=f"waiting for process {pid}"):
        saver = instride.Saver(tmp_path, weights=Weights(10))

    saver.close()


def test_a_store_that_somebody_keeps_is_waited_for_once_and_not_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A writer that finishes for a dead training may be frozen, or its storage may be."""
    weights = Weights(10)
    instride.Saver(tmp_path, weights=weights).close()
    pid = os.getpid()
    held = held_by(pid, tmp_path)
    slept: list[float] = []
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + sum(slept), sleep=slept.append)
    monkeypatch.setattr(synchronous, "time", clock)

    with (
        pytest.warns(RuntimeWarning, match=f"waiting for process {pid}"),
        pytest.warns(RuntimeWarning, match=f"{pid} still works on it; each save will try"),
    ):
        saver = instride.Saver(tmp_path, weights=weights)
    waited_s = sum(slept)
    assert 30 < waited_s < 90
    with pytest.warns(RuntimeWarning, match=f"process {pid} still works on it"):
        assert isinstance(saver.save(1).error, SaveFailedError)
    assert sum(slept) == waited_s

    held.release()
    other = os.getppid()
    held = held_by(other, tmp_path)
    with pytest.warns(RuntimeWarning, match=f"process {other} still works on it"):
        assert isinstance(saver.save(2).error, SaveFailedError)
    assert sum(slept) > waited_s
    held.release()

    saver.save(3).wait()
    saver.close()
    assert steps_in(tmp_path) == [3]


def test_without_locks_of_files_the_name_of_another_process_that_lives_is_respected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "fcntl", None)  # as on Windows
    instride.Saver(tmp_path, weights=Weights(10)).close()
    other = os.getppid()
    others = lock.StoreLock(tmp_path)
    owner = lock.Owner(socket.gethostname(), other, lock.started_at(other) or 0, other)
    assert others.try_take(owner) is None

    with pytest.raises(StoreInUseError, match=f"pid {other} "):
        instride.Saver(tmp_path, weights=Weights(10))

    others.release()
    instride.Saver(tmp_path, weights=Weights(10)).close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks there")
def test_a_child_that_is_forked_leaves_the_store_to_its_parent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the name in the lock is all that keeps others out."""
    monkeypatch.setattr(lock, "fcntl", None)
    with instride.Saver(tmp_path, weights=Weights(10)):
        child = os.fork()
        if child == 0:
            os._exit(0)  # as a worker of a data loader that has no work
        os.waitpid(child, 0)
        holder = lock.holder_of(tmp_path)
        assert holder is not None
        assert holder.writer_pid == os.getpid()
    assert lock.holder_of(tmp_path) is None


def test_without_locks_a_training_that_was_killed_keeps_nobody_out_whoever_has_its_pid_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lock, "fcntl", None)
    with instride.Saver(tmp_path, weights=Weights(10)):
        mine = lock.holder_of(tmp_path)
    assert mine is not None
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        left = msgspec.structs.replace(mine, trainer_pid=other.pid, writer_pid=other.pid)
        (tmp_path / ".instride" / "lock").write_bytes(msgspec.json.encode(left))

        instride.Saver(tmp_path, weights=Weights(10)).close()
