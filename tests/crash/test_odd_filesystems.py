"""Filesystems that refuse what others can: no locks, no direct reads."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

import instride
from instride.store import verifying
from instride.store.lock import Owner, StoreLock, holder_of, started_at
from instride.store.manifest import PIECE_BYTES

pytestmark = pytest.mark.torch
HERE = socket.gethostname()
NOBODY = 2**22 + 1
"""No process has this number."""

NO_FLOCK = """
import errno, fcntl, os
def refuse(fd, operation):
    raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
fcntl.flock = refuse
"""
SAVES_ONCE = """
import sys, torch, instride
with instride.Saver(sys.argv[1], model=torch.nn.Linear(4, 4)) as saver:
    saver.save(1).wait(60)
"""


@pytest.fixture
def without_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(fd: int, operation: int) -> None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(fcntl, "flock", refuse)


def owner(pid: int, *, host: str = HERE) -> Owner:
    started = started_at(pid) or 1
    return Owner(host, pid, started, pid, writer_started=started)


@pytest.mark.usefixtures("without_locks")
def test_without_locks_a_name_that_lives_keeps_others_out(tmp_path: Path) -> None:
    mine = StoreLock(tmp_path)
    assert mine.try_take(owner(os.getpid())) is None
    assert mine.is_by_name
    other = StoreLock(tmp_path)
    holder = other.try_take(owner(os.getppid()))
    assert holder is not None
    assert holder.writer_pid == os.getpid()
    mine.release()
    assert other.try_take(owner(os.getppid())) is None
    other.release()
    assert holder_of(tmp_path) is None


@pytest.mark.usefixtures("without_locks")
@pytest.mark.parametrize("gone", [owner(NOBODY), owner(os.getpid(), host="elsewhere")])
def test_without_locks_who_is_gone_or_elsewhere_keeps_nobody_out(
    tmp_path: Path, gone: Owner
) -> None:
    before = StoreLock(tmp_path)
    assert before.try_take(gone) is None
    after = StoreLock(tmp_path)
    assert after.try_take(owner(os.getpid())) is None


def test_a_pid_that_somebody_else_has_by_now_holds_nothing() -> None:
    mine = owner(os.getpid())
    assert mine.is_at_work
    assert not Owner(HERE, 1, 1, os.getpid(), writer_started=mine.writer_started - 1).is_at_work


def test_training_saves_on_a_filesystem_without_locks_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(NO_FLOCK)  # for the trainer and for the writer
    answer = subprocess.run(
        [sys.executable, "-c", SAVES_ONCE, str(tmp_path / "store")],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "has no locks" in answer.stderr
    assert (tmp_path / "store" / "step_00000001.pt").exists()


def test_a_file_that_may_not_be_read_directly_is_read_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = os.urandom(2 * PIECE_BYTES + 4096)
    path = tmp_path / "file"
    path.write_bytes(data)
    preadv = os.preadv

    def refuse_direct(fd: int, buffers: Any, offset: int) -> int:
        if fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_DIRECT:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        return preadv(fd, buffers, offset)

    monkeypatch.setattr(os, "preadv", refuse_direct)
    read = [bytes(piece) for piece in verifying.pieces_of(path, PIECE_BYTES)]
    assert b"".join(read) == data


def test_a_checkpoint_that_may_not_be_read_now_is_not_given_up_for_an_older_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = torch.nn.Linear(4, 4)
    with instride.Saver(tmp_path, model=model) as saver:
        saver.save(1).wait(60)
        saver.save(2).wait(60)

    def refuse(path: Path) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr("instride.saver.reading.open_for_reading", refuse)
    with instride.Saver(tmp_path, model=model) as saver, pytest.raises(OSError, match="many"):
        saver.restore()
