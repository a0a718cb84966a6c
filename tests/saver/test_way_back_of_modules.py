"""Models and optimizers with code and memory of their own get back all that was saved."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor

import instride
from tests.saver.holding import Holder, saved
from tests.saver.states import DTYPES, assert_same, of_dtype

pytestmark = pytest.mark.torch


class Resetting(Holder):
    """Empties itself before it loads."""

    def state_dict(self) -> Any:
        return self.state

    def load_state_dict(self, given: Any) -> None:
        for name, value in self.state.items():
            value.zero_()
            value += given[name]


def test_a_part_that_empties_itself_first_loses_nothing(tmp_path: Path) -> None:
    saved(tmp_path, part=Resetting({"w": torch.full((4,), 5.0)}))
    part = Resetting({"w": torch.ones(4)})

    with instride.Saver(tmp_path, part=part) as saver:
        saver.restore()

    assert part.state["w"].tolist() == [5.0] * 4


class WithHook(torch.nn.Linear):
    def __init__(self) -> None:
        super().__init__(4, 4)
        self.register_load_state_dict_pre_hook(lambda *_: empty(self))


class WithLoading(torch.nn.Linear):
    def _load_from_state_dict(self, *given: Any, **others: Any) -> None:
        empty(self)
        super()._load_from_state_dict(*given, **others)


class WithExtraState(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.nn.Linear(4, 4)
        self.seen = torch.ones(2)

    def get_extra_state(self) -> Any:
        return {"seen": self.seen}

    def set_extra_state(self, state: Any) -> None:
        empty(self)
        self.seen.zero_()
        self.seen += state["seen"]


class WholeModule(torch.nn.Linear):
    def load_state_dict(self, state: Any, strict: bool = True, assign: bool = False) -> Any:
        empty(self)
        return super().load_state_dict(state, strict, assign)


def empty(module: torch.nn.Module) -> None:
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.zero_()


@pytest.mark.parametrize(
    "build",
    [
        WithHook,
        lambda: torch.nn.Sequential(WithHook()),
        lambda: WithLoading(4, 4),
        lambda: torch.nn.Sequential(WithExtraState()),
        lambda: WholeModule(4, 4),
        lambda: torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4)),
    ],
    ids=["a hook", "a hook inside", "its own loading", "extra state", "its own", "torch's"],
)
def test_modules_with_code_of_their_own_lose_nothing(
    build: Callable[[], torch.nn.Module], tmp_path: Path
) -> None:
    model = build()
    saved(tmp_path, model=model)
    other = build()

    with instride.Saver(tmp_path, model=other) as saver:
        saver.restore()

    assert_same(dict(other.state_dict()), dict(model.state_dict()))


class Forgetful(torch.optim.SGD):
    def __setstate__(self, state: dict[str, Any]) -> None:
        for kept in self.state.values():
            kept["momentum_buffer"].zero_()
        super().__setstate__(state)


@pytest.mark.parametrize("kind", [Forgetful, torch.optim.SGD])
def test_optimizers_with_code_of_their_own_lose_nothing(
    kind: type[torch.optim.SGD], tmp_path: Path
) -> None:
    def stepped(value: float) -> torch.optim.SGD:
        parameter = torch.nn.Parameter(torch.ones(4))
        parameter.grad = torch.full((4,), value)
        optimizer = kind([parameter], lr=0.1, momentum=0.9)
        optimizer.step()
        return optimizer

    saved(tmp_path, optimizer=stepped(5.0))
    other = stepped(1.0)

    with instride.Saver(tmp_path, optimizer=other) as saver:
        saver.restore()

    assert other.state_dict()["state"][0]["momentum_buffer"].tolist() == [5.0] * 4


def buffers(**tensors: torch.Tensor) -> torch.nn.Module:
    module = torch.nn.Module()
    for name, tensor in tensors.items():
        module.register_buffer(name, tensor)
    return module


SHARED = torch.zeros(8)
THERE: dict[str, Callable[[], dict[str, torch.Tensor]]] = {
    "shared": lambda: {"a": SHARED[:4], "b": SHARED[:4]},
    "overlapping": lambda: {"a": SHARED[:4], "b": SHARED[2:6]},
    "the same": lambda: dict.fromkeys("ab", torch.zeros(4)),
    "strided": lambda: {"a": SHARED[::2], "b": torch.zeros(4)},
    "parameters": lambda: {n: torch.nn.Parameter(torch.zeros(4)) for n in "ab"},
}


@pytest.mark.parametrize("there", THERE)
def test_memory_that_is_shared_in_the_model_alone_is_filled_as_torch_would(
    there: str, tmp_path: Path
) -> None:
    SHARED.zero_()
    path = saved(tmp_path, model=buffers(a=torch.ones(4), b=torch.full((4,), 2.0)))
    wanted = buffers(**{name: value.clone() for name, value in THERE[there]().items()})
    if there in ("shared", "overlapping", "the same"):
        base = torch.zeros(8)
        second = base[2:6] if there == "overlapping" else base[:4]
        wanted = buffers(a=base[:4], b=second)
    wanted.load_state_dict(torch.load(path)["model"])

    model = buffers(**THERE[there]())
    with instride.Saver(tmp_path, model=model) as saver:
        saver.restore()

    assert {name: value.tolist() for name, value in model.state_dict().items()} == {
        name: value.tolist() for name, value in wanted.state_dict().items()
    }


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_module_of_any_kind_of_numbers_is_filled(dtype: torch.dtype, tmp_path: Path) -> None:
    saved(tmp_path, model=buffers(a=of_dtype(dtype)))
    model = buffers(a=torch.zeros_like(of_dtype(dtype)))
    address = model.a.data_ptr()

    with instride.Saver(tmp_path, model=model) as saver:
        saver.restore()

    assert_same(dict(model.state_dict()), {"a": of_dtype(dtype)})
    assert model.a.data_ptr() == address


@pytest.fixture
def mesh() -> Iterator[DeviceMesh]:
    store = torch.distributed.HashStore()
    torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    yield init_device_mesh("cpu", (1,))
    torch.distributed.destroy_process_group()


def test_a_model_that_is_sharded_is_restored(mesh: DeviceMesh, tmp_path: Path) -> None:
    def sharded() -> tuple[torch.nn.Module, torch.optim.Optimizer]:
        model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Linear(4, 2))
        fully_shard(model, mesh=mesh)
        optimizer = torch.optim.AdamW(model.parameters())
        model(torch.randn(3, 4)).sum().backward()
        optimizer.step()
        return model, optimizer

    model, optimizer = sharded()
    saved(tmp_path, model=model, optimizer=optimizer)
    other, its_optimizer = sharded()

    with instride.Saver(tmp_path, model=other, optimizer=its_optimizer) as saver:
        assert saver.restore() == 4

    for one, its in zip(model.parameters(), other.parameters(), strict=True):
        assert isinstance(its.data, DTensor)
        assert torch.equal(one.full_tensor(), its.full_tensor())
    for first, second in zip(optimizer.state.values(), its_optimizer.state.values(), strict=True):
        assert torch.equal(first["exp_avg"].full_tensor(), second["exp_avg"].full_tensor())
