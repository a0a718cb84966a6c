"""Whose a store is where only a name says so: of a process that runs, and of no other."""

from __future__ import annotations

import errno
import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import psutil
import pytest

from instride.agent.owning import Ownership
from instride.store import lock
from instride.store.lock import Owner, StoreLock, holder_of, is_running, started_at, take_lock
from instride.store.pruning import prune
from instride.store.retention import Keep
from tests.unit.store.committing import commit

HERE = socket.gethostname()
ME = os.getpid()


@pytest.fixture
def without_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(fd: int) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(lock, "_flock", refuse)


def me() -> Owner:
    started = started_at(ME) or 0
    return Owner(HERE, ME, started, ME, writer_started=started)


@contextmanager
def nothing_is_said_of_processes(monkeypatch: pytest.MonkeyPatch, how: str) -> Iterator[None]:
    def no_descriptors(path: Path) -> bytes:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), str(path))

    def not_ours(pid: int) -> None:
        raise psutil.AccessDenied(pid)

    with monkeypatch.context() as patch:
        if how == "linux":
            patch.setattr(Path, "read_bytes", no_descriptors)
        else:
            patch.setattr("sys.platform", how)
            patch.setattr(psutil, "Process", not_ours)
        yield


def test_a_process_runs_only_as_the_one_that_was_started_then() -> None:
    started = started_at(ME)
    assert started
    assert is_running(ME, started)
    assert not is_running(ME, started - 1)
    assert is_running(ME, 0)  # nobody knows since when
    assert not is_running(2**22 + 1, 0)


@pytest.mark.skipif(sys.platform != "linux", reason="/proc tells it")
def test_a_trainer_that_was_killed_is_gone_while_its_memory_is_taken_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """For seconds, where that is much. What it held it holds until then."""
    mine, told = me(), Path(f"/proc/{ME}/stat").read_bytes()
    name, _, fields = told.rpartition(b") ")
    state, *others = fields.split()
    flags = int(others[5]) | 0x4  # PF_EXITING
    ending = b" ".join([state, *others[:5], str(flags).encode(), *others[6:]])
    assert me().is_alive

    monkeypatch.setattr(Path, "read_bytes", lambda path: name + b") " + ending)

    assert not mine.is_alive
    assert mine.is_at_work


@pytest.mark.parametrize("how", ["linux", "darwin", "win32"])
def test_a_process_of_which_nothing_is_said_counts_as_running(
    how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = me()
    with nothing_is_said_of_processes(monkeypatch, how):
        assert mine.is_at_work
        assert mine.is_alive


@pytest.mark.parametrize("system", ["darwin", "win32"])
def test_elsewhere_too_a_pid_that_is_somebody_elses_by_now_is_known(
    system: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", system)
    started = started_at(ME)
    assert started
    assert is_running(ME, started)
    assert not is_running(ME, started - 100)
    assert started_at(2**22 + 1) is None


def test_at_no_moment_is_it_nobodys_while_its_owner_says_something_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[Owner | None] = []

    def looked_at(call: Callable[[int, Any], Any]) -> Callable[[int, Any], Any]:
        def call_and_look(fd: int, what: Any) -> Any:
            result = call(fd, what)
            seen.append(holder_of(tmp_path))
            return result

        return call_and_look

    held = take_lock(tmp_path, me())
    assert isinstance(held, StoreLock)
    monkeypatch.setattr(os, "write", looked_at(os.write))
    monkeypatch.setattr(os, "ftruncate", looked_at(os.ftruncate))
    others = [msgspec.structs.replace(me(), is_leaving=is_leaving) for is_leaving in (True, False)]
    for owner in others:
        held.say(owner)
    monkeypatch.undo()
    held.release()

    assert set(seen) == set(others)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing forks there")
@pytest.mark.usefixtures("without_locks")
def test_who_closes_an_inherited_lock_leaves_the_store_to_who_holds_it(tmp_path: Path) -> None:
    held = take_lock(tmp_path, me())
    assert isinstance(held, StoreLock)
    assert held.is_by_name
    pid = os.fork()
    if pid == 0:
        try:
            held.close()
        finally:
            os._exit(0)  # whatever happens: a child must not go on with the tests
    os.waitpid(pid, 0)

    assert holder_of(tmp_path) == me()
    held.release()
    assert holder_of(tmp_path) is None


@pytest.mark.usefixtures("without_locks")
def test_an_agent_that_was_killed_keeps_nobody_out_once_its_pid_is_another_ones(
    tmp_path: Path,
) -> None:
    agent = Ownership(tmp_path)
    assert agent.take()
    holder = holder_of(tmp_path)
    assert holder is not None
    assert holder.writer_started == started_at(ME)
    assert holder.is_at_work
    agent.release()


@pytest.mark.usefixtures("without_locks")
def test_prune_says_since_when_it_runs_and_that_no_training_is_behind_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for step in (1, 2):
        commit(tmp_path, step)
    said = []
    remove = prune.__globals__["remove"]

    def look_and_remove(checkpoint: Path) -> None:
        said.append(holder_of(tmp_path))
        remove(checkpoint)

    monkeypatch.setitem(prune.__globals__, "remove", look_and_remove)
    prune(tmp_path, Keep(last=1), dry_run=False)

    [owner] = said
    assert owner is not None
    assert (owner.writer_pid, owner.writer_started) == (ME, started_at(ME))
    assert not owner.is_alive


def test_a_lock_file_of_a_writer_that_was_killed_names_nobody_whose_pid_it_is_now(
    tmp_path: Path,
) -> None:
    before = StoreLock(tmp_path)
    killed = Owner(HERE, ME, 1, ME, writer_started=1)
    assert before.try_take(killed) is None
    before.close()

    assert holder_of(tmp_path) is None
