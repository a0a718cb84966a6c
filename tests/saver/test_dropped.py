"""Savers that nobody has any more, that never came to be, or whose program became another."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
import torch

import instride
from instride.errors import StoreInUseError
from tests.saver.scripts import run

pytestmark = pytest.mark.torch


def optimizer_of(model: torch.nn.Module) -> torch.optim.Optimizer:
    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def step(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()


def test_a_second_saver_of_a_process_is_told_to_close_the_first(tmp_path: Path) -> None:
    model = torch.nn.Linear(2, 2)
    optimizer = optimizer_of(model)
    with instride.Saver(tmp_path, model=model):
        with pytest.raises(StoreInUseError, match="another Saver of this process") as caught:
            instride.Saver(tmp_path, model=model, optimizer=optimizer)
        assert "close()" in caught.value.hint
        assert "kill" not in caught.value.hint
        assert not optimizer._optimizer_step_post_hooks, "the one that was refused goes on beating"
        step(model, optimizer)
    instride.Saver(tmp_path, model=model).close()


def test_a_saver_that_is_dropped_lets_go_of_its_store(tmp_path: Path) -> None:
    model = torch.nn.Linear(2, 2)
    optimizer = optimizer_of(model)
    saver = instride.Saver(tmp_path, model=model, optimizer=optimizer)
    step(model, optimizer)
    pending = saver.save(1)

    saver = None  # type: ignore[assignment]
    gc.collect()
    step(model, optimizer)
    with instride.Saver(tmp_path, model=model, optimizer=optimizer) as another:
        assert pending.done
        assert another.restore() == 2


def test_a_saver_that_is_dropped_in_a_forked_process_is_that_of_the_parent(tmp_path: Path) -> None:
    script = """
a = saver("a")
if os.fork() == 0:
    a = None
    sys.exit(0)
os.wait()
a.save(1).wait(60)
a.close()
"""
    run(tmp_path, script)
    assert (tmp_path / "a" / "step_00000001.pt").exists()


def test_a_program_that_becomes_another_waits_for_its_own_last_commit(tmp_path: Path) -> None:
    """`os.execv` keeps pid and start time; what hangs is the writer of the program before."""
    script = """
import pathlib
if len(sys.argv) == 1:
    a = saver("a", stall_s=1.0)
    a.save(1)
    while not pathlib.Path("once").exists():
        os.sched_yield()
    os.execv(sys.executable, [sys.executable, sys.argv[0], str(a._engine.courier.writer_pid)])
a = saver("a", stall_s=1.0)
older = int(sys.argv[1])
print(a._engine.waits_for == older)
os.kill(older, signal.SIGKILL)
print(a.restore())
a.save(2).wait(60)
a.close()
"""
    printed = run(
        tmp_path, script, INSTRIDE_FAULTS="hang@synced", INSTRIDE_FAULTS_ONCE=str(tmp_path / "once")
    )
    assert printed == ["True", "0"]
    assert (tmp_path / "a" / "step_00000002.pt").exists()


def test_savers_that_cannot_be_made_leave_no_descriptors(tmp_path: Path) -> None:
    script = """
import resource
import time
from instride.errors import SaveFailedError
saver("warm").close()

def num_open():
    return len(os.listdir("/proc/self/fd"))

def num_left(before):
    end_s = time.monotonic() + 20  # threads that end close theirs, on a busy machine a little later
    while num_open() != before and time.monotonic() < end_s:
        time.sleep(0.01)
    return num_open() - before

limits = resource.getrlimit(resource.RLIMIT_NOFILE)
time.sleep(0.5)
before = num_open()
for room in range(14):
    resource.setrlimit(resource.RLIMIT_NOFILE, (before + room, limits[1]))
    try:
        a = saver("a")
    except SaveFailedError as error:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        print(num_left(before))
    else:
        a.close()
        break
"""
    printed = run(tmp_path, script)
    assert printed
    assert set(printed) == {"0"}
