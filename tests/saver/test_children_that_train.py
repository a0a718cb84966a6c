"""Forked processes that step an optimizer they inherited: their steps are nobody's but theirs."""

from __future__ import annotations

import multiprocessing
import os
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
import torch

import instride
from tests.crash.trainings import engine_of
from tests.saver.scripts import run

pytestmark = pytest.mark.torch
forking = multiprocessing.get_context("fork")


@pytest.mark.parametrize("loop_says", [False, True])
def test_steps_of_a_child_are_none_of_its_parent(loop_says: bool, tmp_path: Path) -> None:
    """As in Hogwild and A3C."""
    weight = torch.nn.Parameter(torch.ones(2))
    weight.grad = torch.ones(2)
    optimizer = torch.optim.SGD([weight], lr=0.1)

    def train(num_steps: int) -> None:
        for step in range(num_steps):
            optimizer.step()
            if loop_says:
                saver.due(step)

    def train_here(line: Connection) -> None:
        train(50)
        line.send(weight[0].item())

    with instride.Saver(tmp_path, optimizer=optimizer) as saver:
        train(3)
        before = engine_of(saver).page.num_beats
        ours, theirs = forking.Pipe()
        worker = forking.Process(target=train_here, args=(theirs,))
        worker.start()
        assert ours.recv() < 0  # it has made all of its steps
        worker.join()

        assert before >= 3
        assert engine_of(saver).page.num_beats == before
        train(1)
        assert engine_of(saver).page.num_beats == before + 1


PREPARING = """
weight = torch.nn.Parameter(torch.ones(1 << 20))
weight.grad = torch.ones(1 << 20)
optimizer = torch.optim.AdamW([weight])
store = saver("store", optimizer=optimizer)
torch.set_num_threads(1)  # a forked process has none of those of its parent
child = os.fork()
if child == 0:
    for _ in range(5):
        optimizer.step()
    for thread in threading.enumerate():
        if thread is not threading.current_thread():
            thread.join()
    kept = [line for line in open("/proc/self/maps") if "instride-page" in line]
    print(len(store._engine._stager.arena.fds) + len(kept), end=" ", flush=True)
    os._exit(0)
print(os.waitpid(child, 0)[1])
store.save(1).wait(60)
store.close()
"""


def test_a_child_asks_for_no_memory_for_snapshots_that_it_does_not_take(tmp_path: Path) -> None:
    assert run(tmp_path, PREPARING) == ["0", "0"]


def test_a_child_closes_nothing_of_others_for_a_saver_that_was_closed_before(
    tmp_path: Path,
) -> None:
    def look_here(line: Connection) -> None:
        line.send(os.pread(number, 10, 0))

    saver = instride.Saver(tmp_path / "store", model=torch.nn.Linear(2, 2))
    number = engine_of(saver).page.fd
    saver.close()
    (tmp_path / "other").write_bytes(b"still open")
    other = os.open(tmp_path / "other", os.O_RDONLY)
    os.dup2(other, number)  # as any file that is opened next may get it
    try:
        ours, theirs = forking.Pipe()
        worker = forking.Process(target=look_here, args=(theirs,))
        worker.start()
        assert ours.poll(60)
        assert ours.recv() == b"still open"
        worker.join()
    finally:
        for each in {other, number}:
            os.close(each)
