"""What a Saver restores is what `torch.load` reads, into whatever part, over whatever was there."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor

import instride
from instride.errors import MismatchError, UnsafeCheckpointError
from instride.saver.placing import plain_tensors
from tests.saver.states import DTYPES, STATES, assert_same, of_dtype

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore:Sparse"),
    pytest.mark.filterwarnings("ignore:torch.quantize_per"),
    pytest.mark.filterwarnings("ignore:The PyTorch API of nested"),
    pytest.mark.filterwarnings("ignore:TypedStorage is deprecated"),
    pytest.mark.filterwarnings("ignore:.*weights_only=True:RuntimeWarning"),
    pytest.mark.filterwarnings("ignore:.*goes through torch.save:RuntimeWarning"),
]


class Holder:
    """A part that keeps what it is given."""

    def __init__(self, state: Any) -> None:
        self.state = state

    def state_dict(self) -> Any:
        return {"state": self.state}

    def load_state_dict(self, given: Any) -> None:
        self.state = given["state"]


def with_attributes() -> torch.Tensor:
    tensor = torch.ones(3)
    tensor.spread = 0.5
    return tensor


def hanging() -> OrderedDict[str, Any]:
    shared = torch.ones(3)
    tree = OrderedDict(a=shared)
    tree.more = [shared]  # type: ignore[attr-defined]
    return tree


def quantised() -> list[torch.Tensor]:
    values, scales = torch.tensor([[1.0, 2.0], [3.0, 4.0]]), torch.tensor([0.1, 0.2])
    return [
        torch.quantize_per_tensor(values, 0.1, 3, torch.qint8),
        torch.quantize_per_channel(values, scales, torch.tensor([0, 1]), 0, torch.qint8),
    ]


STRANGE: dict[str, Callable[[], Any]] = {
    "quantised": quantised,
    "conjugated": lambda: torch.tensor([1 + 2j, 3 - 4j]).conj(),
    "negated": lambda: torch.tensor([1 + 2j, 3 - 4j]).conj().imag,
    "nested": lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]),
    "jagged": lambda: torch.nested.nested_tensor(
        [torch.ones(2), torch.ones(3)], layout=torch.jagged
    ),
    "without data": lambda: torch.empty(3, device="meta"),
    "attributes": with_attributes,
    "in a set": lambda: {1, (2, "a")},
    "odd keys": lambda: {(1, (2, 3)): torch.ones(2), None: torch.zeros(1), 0.5: 1},
    "on a mapping": hanging,
}
UNSAFE: dict[str, Callable[[], Any]] = {
    "not yet there": lambda: torch.nn.LazyLinear(3).state_dict(),
    "in a frozen set": lambda: frozenset({3}),
}
ALL = {**STATES, **STRANGE, **UNSAFE}


def saved(tmp_path: Path, **parts: Any) -> Path:
    with instride.Saver(tmp_path, **parts) as saver:
        return saver.save(3, extra={"also": [1.5, torch.ones(2)]}).wait(60).path


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("there", [None, "the same", "another"])
def test_a_part_gets_what_torch_loads(name: str, there: str | None, tmp_path: Path) -> None:
    path = saved(tmp_path, part=Holder(ALL[name]()))
    other = {None: None, "the same": ALL[name](), "another": torch.zeros(3)}[there]
    part = Holder(other)

    with instride.Saver(tmp_path, part=part) as saver:
        assert saver.restore(weights_only=name not in UNSAFE) == 4

    plain = torch.load(path, weights_only=name not in UNSAFE)
    assert_equal(part.state, plain["part"]["state"])
    assert_equal(saver.extra, plain["extra"])


def assert_equal(left: Any, right: Any) -> None:
    """Like `assert_same`, with kinds of tensors that have no bits to look at."""
    for one, other in zip(leaves(left), leaves(right), strict=True):
        assert type(one) is type(other)
        if isinstance(one, torch.nn.UninitializedParameter) or one.is_meta:
            assert one.dtype == other.dtype
        elif one.is_nested:
            assert_same(list(one.unbind()), list(other.unbind()))
        elif one.is_quantized:
            assert (one.qscheme(), one.dtype) == (other.qscheme(), other.dtype)
            assert torch.equal(one.dequantize(), other.dequantize())
        else:
            assert (one.is_conj(), one.is_neg()) == (other.is_conj(), other.is_neg())
            assert_same(one, other)
            assert one.__dict__ == other.__dict__
    if not any(is_strange(one) for one in leaves(left)):
        assert_same(left, right)


def is_strange(tensor: torch.Tensor) -> bool:
    is_empty = isinstance(tensor, torch.nn.UninitializedParameter)
    return is_empty or tensor.is_meta or tensor.is_nested or tensor.is_quantized


def leaves(tree: Any, seen: frozenset[int] = frozenset()) -> Iterator[torch.Tensor]:
    if isinstance(tree, torch.Tensor):
        yield tree
    elif isinstance(tree, dict | list | tuple) and id(tree) not in seen:
        for value in tree.values() if isinstance(tree, dict) else tree:
            yield from leaves(value, seen | {id(tree)})


@pytest.mark.parametrize("name", sorted(STATES.keys() - {"sparse"}))
def test_ordinary_trees_are_read_without_being_twice_in_memory(name: str) -> None:
    assert plain_tensors(STATES[name]()) is not None


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


def test_what_is_restored_in_inference_mode_can_be_trained(tmp_path: Path) -> None:
    saved(tmp_path, part=Holder(torch.ones(3)))
    part = Holder(None)

    with torch.inference_mode(), instride.Saver(tmp_path, part=part) as saver:
        saver.restore()

    part.state.requires_grad_().sum().backward()


class Averaged:
    """Computes from its tensor when it is read."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.tensor = state["tensor"]
        self.mean = float(self.tensor.mean())


@pytest.mark.parametrize("weights_only", [True, False])
def test_code_that_runs_while_reading_sees_the_data(weights_only: bool, tmp_path: Path) -> None:
    tensor = torch.full((4,), 5.0)
    saved(tmp_path, part=Holder({"tensor": tensor, "averaged": Averaged(tensor)}))
    part = Holder(None)

    with instride.Saver(tmp_path, part=part) as saver:
        if weights_only:
            with pytest.raises(UnsafeCheckpointError) as raised:
                saver.restore()
            assert "Unsupported global: GLOBAL" in str(raised.value)
            assert "\x1b" not in str(raised.value)
        with torch.serialization.safe_globals([Averaged] if weights_only else []):
            saver.restore(weights_only=weights_only)

    assert part.state["averaged"].mean == 5.0
    assert part.state["averaged"].tensor.tolist() == tensor.tolist()


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


class Gone:
    """A class that is not there when it is to be read."""


def test_a_checkpoint_that_is_whole_is_never_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = Holder(1)
    with instride.Saver(tmp_path, part=part, keep=instride.Keep(last=2)) as saver:
        saver.save(1).wait(60)
        part.state = Gone()
        saver.save(2).wait(60)
        part.state = 0
        monkeypatch.delitem(globals(), "Gone")

        with pytest.raises(AttributeError, match="Gone"):
            saver.restore(weights_only=False)
        assert part.state == 0


@pytest.mark.parametrize("tree", [{"model": {"weight": torch.ones(2, 2)}}, torch.ones(2)])
def test_a_file_that_no_saver_made_is_refused_before_anything_is_touched(
    tree: Any, tmp_path: Path
) -> None:
    model = torch.nn.Linear(2, 2, bias=False)
    before = model.weight.detach().clone()
    with instride.Saver(tmp_path, model=model):
        pass
    instride.save(tree, tmp_path / "step_00000100.pt").wait(60)

    with instride.Saver(tmp_path, model=model) as saver:
        with pytest.raises(MismatchError):
            saver.restore()
        assert torch.equal(model.weight, before)
        if isinstance(tree, dict):
            assert saver.restore(strict=False) == 101
            assert model.weight.tolist() == [[1, 1], [1, 1]]
