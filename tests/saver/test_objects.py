"""Objects of any class are saved as `torch.save` saves them; their code sees the real data."""

from __future__ import annotations

import argparse
import datetime
import enum
from collections import Counter, OrderedDict, UserDict, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import SimpleNamespace
from typing import Any, NamedTuple, Self

import numpy
import pytest
import torch

import instride
from tests.saver.states import assert_same, bits

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore:.*weights_only=True:RuntimeWarning"),
    pytest.mark.filterwarnings("ignore:The PyTorch API of nested"),
]


class Derived:
    """What it is pickled as is computed from its tensor."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor
        self.mean = float(tensor.mean())

    def __reduce__(self) -> tuple[Any, ...]:
        return (_derived, (self.tensor, float(self.tensor.mean())))


def _derived(tensor: torch.Tensor, mean: float) -> Derived:
    derived = Derived(tensor)
    derived.mean = mean
    return derived


class Cloning:
    """Hands out other tensors than it has."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor

    def __getstate__(self) -> dict[str, Any]:
        return {"twice": self.tensor * 2}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.tensor = state["twice"].clone() / 2


class Counted:
    num_asked = 0

    def __getstate__(self) -> dict[str, Any]:
        Counted.num_asked += 1
        return {"asked": Counted.num_asked}


class Colour(enum.Enum):
    RED = 1


class Point(NamedTuple):
    x: Any
    y: Any


@dataclass
class Settings:
    lr: float
    weights: torch.Tensor


class Remembering(dict[str, Any]):
    """A dictionary that has something else besides."""

    @classmethod
    def of(cls, tensor: torch.Tensor) -> Self:
        made = cls(a=tensor)
        made.tensor = tensor  # type: ignore[attr-defined]
        return made


def with_attribute() -> torch.nn.Parameter:
    parameter = torch.nn.Parameter(torch.randn(3), requires_grad=False)
    parameter.tensor_model_parallel = True
    return parameter


def used_generator() -> torch.Generator:
    generator = torch.Generator().manual_seed(7)
    torch.rand(5, generator=generator)
    return generator


def buffered() -> torch.nn.Module:
    module = torch.nn.Linear(2, 2)
    module.seen = torch.nn.Buffer(torch.ones(3))
    return module


ALL = numpy.arange(24, dtype="float32").reshape(4, 6)
OBJECTS: dict[str, Callable[[], Any]] = {
    "computed": lambda: Derived(torch.ones(3) * 5),
    "cloned": lambda: Cloning(torch.ones(3) * 5),
    "a generator": used_generator,
    "an enum": lambda: Colour.RED,
    "a namedtuple": lambda: Point(torch.ones(2), [torch.zeros(1)]),
    "a dataclass": lambda: Settings(0.1, torch.ones(2)),
    "a namespace": lambda: argparse.Namespace(lr=0.1, w=torch.ones(2)),
    "a simple namespace": lambda: SimpleNamespace(w=torch.ones(2)),
    "a path": lambda: [PurePosixPath("a/b"), Path("c")],
    "times": lambda: [datetime.datetime(2026, 1, 2), datetime.timedelta(1)],
    "dictionaries": lambda: [
        defaultdict(list, a=[torch.ones(1)]),
        Counter("abca"),
        UserDict(a=torch.ones(1)),
        Remembering.of(torch.ones(2)),
        OrderedDict(a=torch.ones(1)),
    ],
    "a deque": lambda: deque([torch.ones(1), 2], maxlen=5),
    "a device": lambda: [torch.device("cuda:1"), torch.Size([1]), torch.float16],
    "arrays": lambda: {
        "rows": ALL,
        "columns": numpy.asfortranarray(ALL),
        "strided": ALL[::2, ::3],
        "turned": ALL.T,
        "empty": ALL[:0],
        "number": numpy.array(3.5),
        "big endian": ALL.astype(">f8"),
        "objects": numpy.array([1, "a", None], dtype=object),
        "texts": numpy.array(["ab", "c"]),
        "records": numpy.zeros(2, dtype=[("a", "i4"), ("b", "f8")]),
        "times": numpy.array(["2026-01-01"], dtype="datetime64[D]"),
        "twice": [ALL, ALL],
    },
    "a module": buffered,
    "an attribute": with_attribute,
    "nested": lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)]),
    "like a pickle": lambda: {
        "text": "ctorch\nTensor\nq\x00.)Rb",
        "raw": bytes(range(256)) * 3,
        "long": 2**4000,
        "many": {str(n): (n, [n]) for n in range(300)},
    },
}


@pytest.mark.filterwarnings("ignore:.*goes through torch.save:RuntimeWarning")
@pytest.mark.parametrize("build", OBJECTS.values(), ids=OBJECTS)
def test_objects_are_saved_as_torch_saves_them(build: Callable[[], Any], tmp_path: Path) -> None:
    shared = torch.randn(3)
    tree = {"first": shared, "object": build(), "last": [shared, torch.randn(2)]}
    torch.save(tree, tmp_path / "plain.pt")

    instride.save(tree, tmp_path / "x.pt").wait(60)

    loaded = torch.load(tmp_path / "x.pt", weights_only=False)
    assert_alike(loaded, torch.load(tmp_path / "plain.pt", weights_only=False))
    assert loaded["first"] is loaded["last"][0]


def test_the_code_of_a_class_runs_once(tmp_path: Path) -> None:
    Counted.num_asked = 0

    instride.save({"x": Counted(), "w": torch.ones(3)}, tmp_path / "x.pt").wait(60)

    assert Counted.num_asked == 1
    assert torch.load(tmp_path / "x.pt", weights_only=False)["x"].asked == 1


def test_an_array_is_of_the_moment_of_the_call(tmp_path: Path) -> None:
    array = numpy.ones(1 << 20)
    pending = instride.save({"a": array}, tmp_path / "x.pt")
    array[:] = 2
    pending.wait(60)

    assert bool((torch.load(tmp_path / "x.pt", weights_only=False)["a"] == 1).all())


def test_what_hangs_on_tensors_of_a_model_does_not_slow_its_saver_down(tmp_path: Path) -> None:
    model = buffered()
    model.weight.tensor_model_parallel = True
    with instride.Saver(tmp_path, model=model) as saver:  # a warning would be an error here
        path = saver.save(1).wait(60).path

    saved = torch.load(path, weights_only=True)["model"]
    assert {name: type(value) for name, value in saved.items()} == dict.fromkeys(
        ["weight", "bias", "seen"], torch.Tensor
    )
    assert not any(value.__dict__ for value in saved.values())


def assert_alike(left: Any, right: Any) -> None:
    """The same values in objects of the same classes."""
    assert type(left) is type(right)
    if isinstance(left, torch.Tensor):
        assert_same_tensors(left, right)
    elif isinstance(left, numpy.ndarray):
        assert (left.dtype, left.shape, left.strides) == (right.dtype, right.shape, right.strides)
        assert left.tolist() == right.tolist()
    elif isinstance(left, torch.Generator):
        assert_same(left.get_state(), right.get_state())
    elif isinstance(left, dict):
        assert_alike(list(left.items()), list(right.items()))
    elif isinstance(left, list | tuple | deque):
        assert len(left) == len(right)
        for one, other in zip(left, right, strict=True):
            assert_alike(one, other)
    elif not hasattr(left, "__dict__") or isinstance(left, enum.Enum | type):
        assert left == right
    if hasattr(left, "__dict__") and not isinstance(left, enum.Enum | type):
        assert_alike(vars(left), vars(right))


def assert_same_tensors(left: torch.Tensor, right: torch.Tensor) -> None:
    assert left.is_nested == right.is_nested
    if left.is_nested:
        assert [bits(each) for each in left.unbind()] == [bits(each) for each in right.unbind()]
    else:
        assert_same(left, right)
