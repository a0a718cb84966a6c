"""The Saver on a GPU. CI has none: these are run by hand on a machine that has one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import instride

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU here"),
]

NUM_BLOWS = 30


def busy(a: torch.Tensor) -> None:
    """Tens of milliseconds of work in the queue: a copy that does not wait for it shows."""
    for _ in range(60):
        a @ a


@pytest.fixture
def queue() -> torch.Tensor:
    return torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)


@pytest.fixture(params=["room", "no room"])
def room(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With memory to spare on the device, and without."""
    if request.param == "no room":
        monkeypatch.setattr("instride.snapshot.cuda.room_bytes", lambda device: 0)
    return str(request.param)


def test_a_file_holds_what_was_queued_before_the_call_and_nothing_after(
    queue: torch.Tensor, room: str, tmp_path: Path
) -> None:
    x = torch.zeros(16 << 20, device="cuda")
    odd = torch.zeros(1001, device="cuda", dtype=torch.bfloat16)
    with instride.Saver(tmp_path, state=Holder(x=x, odd=odd, host=torch.zeros(7))) as saver:
        for blow in range(1, NUM_BLOWS):
            busy(queue)
            x.fill_(blow)
            odd.fill_(blow)
            pending = saver.save(blow)
            x.fill_(-1)
            odd.fill_(-1)
            saved = torch.load(pending.wait(60).path, weights_only=True, map_location="cpu")
            assert bool((saved["state"]["x"] == blow).all())
            assert bool((saved["state"]["odd"] == blow).all())


class Holder:
    """Tensors as a part."""

    def __init__(self, **tensors: torch.Tensor) -> None:
        self.tensors = tensors

    def state_dict(self) -> dict[str, torch.Tensor]:
        return self.tensors

    def load_state_dict(self, state: dict[str, torch.Tensor]) -> None:
        for name, tensor in state.items():
            self.tensors[name].copy_(tensor)


def made(fused: bool = True) -> tuple[torch.nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(1)
    model = torch.nn.Sequential(
        torch.nn.Linear(1000, 999), torch.nn.BatchNorm1d(999), torch.nn.Linear(999, 1000)
    ).cuda()
    return model, torch.optim.AdamW(model.parameters(), lr=1e-2, fused=fused)


def one_step(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    model(torch.randn(64, 1000, device="cuda")).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()


@pytest.mark.parametrize("fused", [True, False], ids=["fused", "steps on the host"])
def test_training_that_goes_on_at_once_is_not_seen(fused: bool, room: str, tmp_path: Path) -> None:
    model, optimizer = made(fused)
    with instride.Saver(tmp_path, model=model, optimizer=optimizer) as saver:
        for step in range(1, NUM_BLOWS):
            one_step(model, optimizer)
            wanted = {name: value.clone() for name, value in model.state_dict().items()}
            moments = [s["exp_avg"].clone() for s in optimizer.state.values()]
            pending = saver.save(step)
            one_step(model, optimizer)
            saved = torch.load(pending.wait(60).path, weights_only=True)
            assert all(torch.equal(saved["model"][name], wanted[name]) for name in wanted)
            states = saved["optimizer"]["state"]
            assert all(torch.equal(states[i]["exp_avg"], m) for i, m in enumerate(moments))
            assert saved["model"]["0.weight"].is_cuda


def test_a_step_that_is_a_replayed_graph_is_not_seen(room: str, tmp_path: Path) -> None:
    weight = torch.zeros(4 << 20, device="cuda", requires_grad=True)
    weight.grad = torch.ones_like(weight)
    optimizer = torch.optim.SGD([weight], lr=1.0)
    with instride.Saver(tmp_path, optimizer=optimizer, state=Holder(w=weight)) as saver:
        optimizer.step()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            optimizer.step()
        saver.save(0).wait(60)
        for step in range(1, 10):
            graph.replay()
            torch.cuda.synchronize()
            wanted = weight.detach().clone()
            pending = saver.save(step)
            graph.replay()
            saved: Any = torch.load(pending.wait(60).path, weights_only=True)
            assert torch.equal(saved["state"]["w"].detach(), wanted)


def test_a_run_that_was_resumed_is_the_same_run(room: str, tmp_path: Path) -> None:
    def train(start_in: Path, stop: int) -> list[float]:
        model, optimizer = made()
        losses: list[float] = []
        with instride.Saver(start_in, model=model, optimizer=optimizer) as saver:
            start = saver.restore()
            losses += saver.extra.get("losses", [])
            for step in range(start, stop):
                loss = model(torch.randn(64, 1000, device="cuda")).square().mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
                if step == 4:
                    saver.save(step, extra={"losses": losses})
        return losses

    whole = train(tmp_path / "whole", 9)
    train(tmp_path / "parts", 7)

    assert train(tmp_path / "parts", 9) == whole


def test_restoring_fills_the_parameters_that_are_there(tmp_path: Path) -> None:
    model, optimizer = made()
    one_step(model, optimizer)
    with instride.Saver(tmp_path, model=model, optimizer=optimizer) as saver:
        wanted = [p.detach().clone() for p in model.parameters()]
        addresses = [p.data_ptr() for p in model.parameters()]
        saver.save(1).wait(60)
        one_step(model, optimizer)
        saver.restore()

    assert [p.data_ptr() for p in model.parameters()] == addresses
    assert all(torch.equal(p, w) for p, w in zip(model.parameters(), wanted, strict=True))
    assert all(state["exp_avg"].is_cuda for state in optimizer.state.values())


def test_memory_that_a_snapshot_used_is_there_for_training(tmp_path: Path) -> None:
    state = torch.zeros(1 << 30, dtype=torch.uint8, device="cuda")
    with instride.Saver(tmp_path, state=Holder(x=state)) as saver:
        saver.save(1).wait(120)
        left, _ = torch.cuda.mem_get_info()
        hungry = torch.empty(left - (64 << 20), dtype=torch.uint8, device="cuda")
        more = torch.empty(512 << 20, dtype=torch.uint8, device="cuda")
        assert hungry.numel() + more.numel() > left


def test_locked_memory_is_let_go_before_it_is_unmapped(tmp_path: Path) -> None:
    """Else whatever is mapped there next cannot be copied to the device."""
    for run in range(4):
        x = torch.ones(64 << 20, dtype=torch.uint8, device="cuda")
        with instride.Saver(tmp_path / str(run), state=Holder(x=x)) as saver:
            saver._engine._stager.arena.register()
            saver.save(1).wait(60)
        mapped = torch.from_file(
            str(tmp_path / str(run) / "step_00000001.pt"), size=60 << 20, dtype=torch.uint8
        )
        assert mapped.cuda().numel() == 60 << 20
