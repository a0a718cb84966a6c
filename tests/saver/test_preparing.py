"""What is done ahead of the first save touches nothing that it does not know."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import torch

import instride
from instride.saver.staging import MOST_TOUCHING, Stager, _num_touching
from instride.snapshot.backlog import Backlog
from instride.snapshot.planning import Plan
from instride.system.interpreter import giving_way

pytestmark = pytest.mark.torch


class NotReady:
    """A part that can be asked only when training has come far enough."""

    def __init__(self) -> None:
        self.num_asked = 0
        self.is_ready = False

    def state_dict(self) -> dict[str, Any]:
        self.num_asked += 1
        if not self.is_ready:
            raise RuntimeError("there is nothing yet")
        return {"average": torch.ones(2)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        raise NotImplementedError


class Shy(torch.nn.Linear):
    """A module that says something of its own when it is saved."""

    def get_extra_state(self) -> Any:
        raise RuntimeError("there is nothing yet")


@pytest.mark.parametrize("part", [NotReady(), Shy(2, 2)])
def test_a_part_that_is_not_ready_disturbs_neither_the_start_nor_the_steps(
    part: Any, tmp_path: Path
) -> None:
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.AdamW(model.parameters())
    with instride.Saver(tmp_path, model=model, optimizer=optimizer, part=part) as saver:
        for _ in range(4):
            model(torch.ones(1, 2)).sum().backward()
            optimizer.step()
        with pytest.raises(RuntimeError, match="nothing yet"):
            saver.save(1)


def test_a_part_of_somebody_is_asked_only_by_a_save(tmp_path: Path) -> None:
    model, part = torch.nn.Linear(2, 2), NotReady()
    part.is_ready = True
    optimizer = torch.optim.AdamW(model.parameters())
    with instride.Saver(tmp_path, model=model, optimizer=optimizer, part=part) as saver:
        for _ in range(4):
            model(torch.ones(1, 2)).sum().backward()
            optimizer.step()
        assert part.num_asked == 0
        saver.save(1).wait(60)
        assert part.num_asked == 1


def test_a_saver_that_is_made_has_prepared_all_that_steps_would_wait_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a GPU kernels are loaded meanwhile, and nothing can be launched."""
    make_ready = Stager._make_ready

    def slowly(stager: Stager, plan: Plan) -> None:
        time.sleep(1.0)
        make_ready(stager, plan)

    monkeypatch.setattr(Stager, "_make_ready", slowly)
    with instride.Saver(tmp_path, model=torch.nn.Linear(2, 2)) as saver:
        stager: Any = saver._engine._stager  # type: ignore[attr-defined]
        assert stager._fragments is not None


def test_threads_that_give_way_at_the_same_time_leave_the_interpreter_as_it_was() -> None:
    before = sys.getswitchinterval()
    first, second = ExitStack(), ExitStack()

    first.enter_context(giving_way())
    second.enter_context(giving_way())
    first.close()
    assert sys.getswitchinterval() < before
    second.close()

    assert sys.getswitchinterval() == before


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_child_that_is_forked_meanwhile_has_the_interpreter_as_it_was() -> None:
    before_s = sys.getswitchinterval()
    with giving_way():
        pid = os.fork()
        if pid == 0:
            is_right = sys.getswitchinterval() == before_s
            with giving_way():
                is_right &= sys.getswitchinterval() < before_s
            os._exit(not (is_right and sys.getswitchinterval() == before_s))
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert sys.getswitchinterval() == before_s


@pytest.mark.parametrize(
    ("cores", "threads"), [(1, 1), (2, 1), (4, 2), (16, MOST_TOUCHING), (128, MOST_TOUCHING)]
)
def test_memory_is_asked_for_by_half_of_the_cores_at_most(
    cores: int, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("instride.saver.staging.usable_cores", lambda: cores)
    assert _num_touching() == threads


ENDS_EARLY = """
import sys, time
import torch, instride
from instride.saver import saver, staging
saver.READY_S = 0.0
if sys.argv[2] == "as beside a GPU":
    prepare = staging.Arena.prepare
    staging.Arena.prepare = lambda arena, num_bytes, num_touching=0: prepare(arena, num_bytes, 4)
many = [torch.zeros(8) for _ in range(10_000)]
parts = {"model": torch.nn.ParameterList([torch.zeros(1 << 28), *many])}
saver = instride.Saver(sys.argv[1], **parts)
time.sleep(float(sys.argv[3]))
sys.exit(3)
"""


@pytest.mark.parametrize("way", ["as beside a GPU", "as beside cores"])
@pytest.mark.parametrize("delay_s", ["0", "0.1"])
def test_a_program_that_ends_while_memory_is_asked_for_ends_as_it_wants_to(
    way: str, delay_s: str, tmp_path: Path
) -> None:
    """A thread that is inside of torch then would end it by a signal."""
    for number in range(2):
        arguments = [str(tmp_path / str(number)), way, delay_s]
        done = subprocess.run(
            [sys.executable, "-c", ENDS_EARLY, *arguments], capture_output=True, check=False
        )
        assert (done.returncode, done.stderr) == (3, b"")


def test_who_locks_memory_is_told_of_each_step_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the optimizers that step inside of a backward pass, each would tell it amid launching."""
    marks: list[Backlog] = []
    monkeypatch.setattr(Backlog, "mark", lambda self: marks.append(self))
    model = torch.nn.Linear(2, 2)
    optimizers = {each: torch.optim.SGD([p], lr=0.1) for each, p in model.named_parameters()}
    with instride.Saver(tmp_path, model=model, **optimizers) as saver:
        for step in range(3):
            model(torch.ones(1, 2)).sum().backward()
            for optimizer in optimizers.values():
                optimizer.step()
            assert len(marks) == step + 1
        saver.due(3)
        assert len(marks) == 4
        assert set(marks) == {saver._engine._stager.arena.backlog}  # type: ignore[attr-defined]
