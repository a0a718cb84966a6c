"""What a Saver restores is what `torch.load` reads, into whatever part, over whatever was there."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import instride
from instride.errors import MismatchError, NoStoreError, UnsafeCheckpointError
from instride.saver.placing import plain_tensors
from tests.integration.commands import as_nobody
from tests.saver.holding import Holder, saved
from tests.saver.states import STATES, assert_same

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore:Sparse"),
    pytest.mark.filterwarnings("ignore:torch.quantize_per"),
    pytest.mark.filterwarnings("ignore:The PyTorch API of nested"),
    pytest.mark.filterwarnings("ignore:TypedStorage is deprecated"),
    pytest.mark.filterwarnings("ignore:.*weights_only=True:RuntimeWarning"),
    pytest.mark.filterwarnings("ignore:.*goes through torch.save:RuntimeWarning"),
]


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


def test_a_checkpoint_that_may_not_be_read_is_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = Holder(1)
    with instride.Saver(tmp_path, part=part) as saver:
        for step in (1, 2):
            part.state = step
            saver.save(step).wait(60)
        part.state = 0
        tmp_path.chmod(0o755)
        (tmp_path / "step_00000002.pt").chmod(0)
        # The directories above are closed to others than root.
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(saver._way_back, "_directory", Path())

        with as_nobody(), pytest.raises(NoStoreError, match=r"2.pt`: Permission denied") as raised:
            saver.restore()
        assert raised.value.hint.startswith("`ls -l step_00000002.pt` shows whose it is")
        assert part.state == 0
