"""What the agent made of torch's files, loaded as if nothing had happened to them."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import instride
from instride.errors import DamagedError, StoreInUseError
from instride.saver.exporting import export
from tests.unit.agent.agents import agent, run_once
from tests.unit.store.committing import flip

pytestmark = pytest.mark.torch


def state_of(step: int) -> dict[str, object]:
    dice = torch.Generator().manual_seed(step)
    shared = torch.randn(300_000, generator=dice)
    return {"step": step, "a": shared, "b": shared[1000:], "c": torch.arange(2_000_000)}


@pytest.mark.parametrize("format", ["zstd", "lz4", "pack"])
def test_load_reads_what_the_agent_made(tmp_path: Path, format: str) -> None:
    torch.save(state_of(7), tmp_path / "step_7.pt")
    run_once(tmp_path, format=format, removes_original=True)
    (path,) = [each for each in tmp_path.iterdir() if each.is_file()]
    state = instride.load(path)
    assert state["step"] == 7
    assert torch.equal(state["a"], state_of(7)["a"])
    assert torch.equal(state["c"], torch.arange(2_000_000))
    assert state["b"].untyped_storage().data_ptr() == state["a"].untyped_storage().data_ptr()


@pytest.mark.parametrize("offset", [1000, -200_000, -30])
def test_load_of_a_damaged_file_is_refused(tmp_path: Path, offset: int) -> None:
    torch.save(state_of(7), tmp_path / "step_7.pt")
    run_once(tmp_path)
    path = tmp_path / "step_7.pt.zst"
    flip(path, offset)
    with pytest.raises(DamagedError):
        instride.load(path)


def test_what_the_agent_made_can_be_exported(tmp_path: Path) -> None:
    torch.save({"model": {"w": torch.arange(10)}, "step": 3}, tmp_path / "step_3.pt")
    run_once(tmp_path, removes_original=True)
    answer = export(tmp_path / "step_3.pt.zst", tmp_path / "model.safetensors", None)
    assert answer.tensors == ["w"]
    assert answer.step == 3


def test_a_saver_restores_from_what_the_agent_made_of_its_store(tmp_path: Path) -> None:
    model = torch.nn.Linear(50, 50)
    with instride.Saver(tmp_path, model=model) as saver:
        saver.save(3)
    (tmp_path / "latest").unlink()
    run_once(tmp_path, removes_original=True)
    assert [path.name for path in tmp_path.glob("step_*")] == ["step_00000003.pt.zst"]
    other = torch.nn.Linear(50, 50)
    with instride.Saver(tmp_path, model=other) as saver:
        assert saver.restore() == 4
    assert torch.equal(other.weight, model.weight)


def test_a_saver_is_told_that_an_agent_has_its_directory(tmp_path: Path) -> None:
    worker = agent(tmp_path)
    (tending,) = worker._tendings
    assert tending.claim()
    try:
        with (
            pytest.raises(StoreInUseError, match="belongs to the agent with pid"),
            instride.Saver(tmp_path, model=torch.nn.Linear(2, 2)),
        ):
            pass
    finally:
        tending.close()
