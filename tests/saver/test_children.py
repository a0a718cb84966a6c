"""Processes that are forked, and programs that end: what they save is saved."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
import torch

import instride
from tests.crash.trainings import writer_of
from tests.saver.scripts import run

pytestmark = pytest.mark.torch
forking = multiprocessing.get_context("fork")


WORDS = [str(n) for n in range(300_000)]
"""Much that is no tensor: it is pickled long after the call."""


def save_and_return(values: torch.Tensor, path: Path) -> None:
    instride.save({"values": values, "words": WORDS}, path)


def save_into(store: Path) -> None:
    saver = instride.Saver(store, model=torch.nn.Linear(2, 2))
    saver.save(1, extra={"words": WORDS})


def is_running(line: Connection) -> None:
    line.send(_kept())
    threading.Event().wait()


def _kept() -> list[str]:
    """Memory of snapshots that this process keeps alive."""
    maps = Path("/proc/self/maps").read_text().splitlines()
    fds = [each for each in Path("/proc/self/fd").iterdir() if each.is_symlink()]
    files = [str(each.readlink()) for each in fds if each.is_symlink()]
    return [each for each in maps + files if "instride-arena" in each]


def test_a_forked_process_saves_through_a_writer_of_its_own(tmp_path: Path) -> None:
    """The parent has computed with threads that a child does not have, and would wait for."""
    values = torch.ones(4 << 20).mul(2).cumsum(0)
    instride.save({"w": torch.zeros(3)}, tmp_path / "parent.pt").wait(60)

    worker = forking.Process(target=save_and_return, args=(values, tmp_path / "child.pt"))
    worker.start()
    worker.join()

    assert worker.exitcode == 0
    saved = instride.load(tmp_path / "child.pt")
    assert torch.equal(saved["values"], values)
    assert saved["words"] == WORDS
    instride.save({"w": torch.ones(3)}, tmp_path / "parent.pt").wait(60)


def stream_into(values: torch.Tensor, store: Path) -> None:
    part = torch.nn.ParameterDict({"weights": values})
    instride.Saver(store, memory_bytes=1, part=part).save(1).wait(60)


def test_a_snapshot_streams_out_of_a_forked_process_too(tmp_path: Path) -> None:
    values = torch.ones(5 << 20).mul(2).cumsum(0)

    worker = forking.Process(target=stream_into, args=(values, tmp_path))
    worker.start()
    worker.join()

    assert worker.exitcode == 0
    assert torch.equal(torch.load(tmp_path / "step_00000001.pt")["part"]["weights"], values)


def test_a_worker_that_saves_into_a_store_and_returns_has_saved(tmp_path: Path) -> None:
    worker = forking.Process(target=save_into, args=(tmp_path,))
    worker.start()
    worker.join()

    assert worker.exitcode == 0
    assert (tmp_path / "step_00000001.pt").exists()


def test_a_saver_of_the_parent_says_so_in_a_forked_process(tmp_path: Path) -> None:
    def save_here(line: Connection) -> None:
        with pytest.warns(RuntimeWarning, match="forked"):
            line.send(str(saver.save(1).error))

    with instride.Saver(tmp_path, model=torch.nn.Linear(2, 2)) as saver:
        ours, theirs = forking.Pipe()
        worker = forking.Process(target=save_here, args=(theirs,))
        worker.start()
        assert "forked" in ours.recv()
        worker.join()

    assert worker.exitcode == 0


def test_what_the_parent_saves_is_not_waited_for_in_a_forked_process(tmp_path: Path) -> None:
    """Nobody there would hear that it is committed. What was known before the fork is known."""

    def wait_here(line: Connection) -> None:
        line.send(before.wait().path)
        with pytest.raises(RuntimeError, match="forked") as refused:
            pending.wait()
        line.send(str(refused.value))

    with instride.Saver(tmp_path, model=torch.nn.Linear(2, 2)) as saver:
        before = saver.save(1)
        before.wait(60)
        os.kill(writer_of(saver), signal.SIGSTOP)
        pending = saver.save(2)
        ours, theirs = forking.Pipe()
        worker = forking.Process(target=wait_here, args=(theirs,))
        worker.start()
        try:
            assert ours.poll(20)
            assert ours.recv() == before.path
            assert ours.poll(20)
            assert str(pending.path) in ours.recv()
        finally:
            os.kill(writer_of(saver), signal.SIGCONT)
            worker.kill()
            worker.join()
        assert pending.wait(60).step == 2


def test_a_forked_process_keeps_none_of_the_memory_of_snapshots(tmp_path: Path) -> None:
    before = _kept()  # by tests of single parts, which let go of nothing in children
    model = torch.nn.Linear(1 << 10, 1 << 10)
    ours, theirs = forking.Pipe()
    with instride.Saver(tmp_path, model=model) as saver:
        saver.save(1).wait(60)
        saver.save(2, extra={"more": torch.zeros(4 << 20)}).wait(60)  # the arena grows
        assert len(_kept()) > len(before)
        worker = forking.Process(target=is_running, args=(theirs,))
        worker.start()
        try:
            assert set(ours.recv()) <= set(before)
        finally:
            worker.terminate()
            worker.join()
        saver.save(3).wait(60)


AT_EXIT = """
import atexit
def last():
    words = [str(n) for n in range(300_000)]  # they are pickled long after the call
    print(instride.save({"w": torch.ones(3), "words": words}, "last.pt").error)
"""


WITHOUT_THREADS = """
import atexit, threading
def refuse(*_, **__):
    raise RuntimeError("can't create new thread at interpreter shutdown")
def start_none():
    names = "_start_new_thread", "_start_joinable_thread"  # the latter from Python 3.13 on
    for name in names:
        setattr(threading, name, refuse)
"""
"""As Python 3.12 is at the end of a program. What is registered last is called first."""
at_the_end = pytest.mark.parametrize(
    "then", ["", f"{WITHOUT_THREADS}atexit.register(start_none)"], ids=["threads", "none"]
)


@at_the_end
def test_a_program_that_saves_for_the_first_time_at_its_end_has_saved(
    then: str, tmp_path: Path
) -> None:
    assert run(tmp_path, f"{AT_EXIT}atexit.register(last)\n{then}") == ["None"]
    assert (tmp_path / "last.pt").exists()


@at_the_end
def test_a_save_at_the_end_works_after_ours_has_ended(then: str, tmp_path: Path) -> None:
    script = """
atexit.register(last)
instride.save({"w": torch.zeros(3)}, "first.pt")
"""
    assert run(tmp_path, AT_EXIT + script + then) == ["None"]
    assert (tmp_path / "first.pt").exists()
    assert torch.equal(torch.load(tmp_path / "last.pt")["w"], torch.ones(3))


def test_the_later_of_two_saves_of_one_path_wins_at_the_end(tmp_path: Path) -> None:
    script = """
atexit.register(last)
instride.save({"w": torch.zeros(3)}, "last.pt")
"""
    run(tmp_path, AT_EXIT + script)
    assert torch.equal(torch.load(tmp_path / "last.pt")["w"], torch.ones(3))


@at_the_end
def test_a_saver_that_is_opened_at_the_end_and_never_closed_has_saved(
    then: str, tmp_path: Path
) -> None:
    script = """
import atexit
atexit.register(lambda: saver("store").save(1))
"""
    run(tmp_path, script + then)
    assert (tmp_path / "store" / "step_00000001.pt").exists()
    journal = tmp_path / "store" / ".instride" / "journal.jsonl"
    end_s = time.monotonic() + 20
    while not (journal.exists() and '"kind":"durable"' in journal.read_text()):
        assert time.monotonic() < end_s  # a writer of its own may still be about to leave
        time.sleep(0.05)
