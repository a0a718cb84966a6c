"""Freezing: nothing that happens afterwards is seen, and the pickle is that of the same tree."""

from __future__ import annotations

import argparse
import gc
import io
import pickle
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch

from instride.snapshot.freezing import (
    Frozen,
    UnsupportedStateError,
    freeze,
    without_collecting,
)
from instride.snapshot.pickling import Fragments
from instride.snapshot.planning import Plan

pytestmark = pytest.mark.torch

DTYPES = {torch.FloatStorage: torch.float32, torch.LongStorage: torch.int64}


def refused(tree: object) -> list[str]:
    """What torch's careful loader would refuse in a tree."""
    frozen = freeze(tree, detached=False)
    return Fragments(Plan(frozen.tensors, detached=False)).pickle(frozen)[1]


def thawed(frozen: Frozen) -> Any:
    """The tree that a loader makes of the pickle, over the storages that were planned."""
    plan = Plan(frozen.tensors, detached=False)

    class Unpickler(pickle.Unpickler):
        def persistent_load(self, told: Any) -> Any:
            storage = plan.sources[int(told[2])].untyped_storage()
            return torch.TypedStorage(wrap_storage=storage, dtype=DTYPES[told[1]], _internal=True)

    return Unpickler(io.BytesIO(Fragments(plan).pickle(frozen)[0])).load()


def test_numbers_and_lists_are_those_of_the_moment() -> None:
    tree: dict[str, Any] = {"list": [1, 2], "nested": {"set": {1}}}
    frozen = freeze(tree, detached=False)

    tree["list"].append(3)
    tree["nested"]["set"].add(2)

    assert thawed(frozen) == {"list": [1, 2], "nested": {"set": {1}}}


def test_tensors_are_listed_once_however_often_they_occur() -> None:
    weight = torch.ones(2)

    tree = {"a": weight, "b": [weight], "c": torch.ones(2)}

    assert len(freeze(tree, detached=False).tensors) == 2


def test_tensors_come_back_in_their_places() -> None:
    one, two = torch.ones(1), torch.zeros(1)

    tree = thawed(freeze({"b": two, "a": [one, numpy.float32(0.5), two]}, detached=False))

    assert tree["b"] is tree["a"][2]
    assert tree == {"b": two, "a": [one, 0.5, two]}


def test_a_tree_of_any_size_has_every_tensor_in_its_place() -> None:
    tree = {str(n): [torch.tensor(n), str(n), n * 1.5] for n in range(700)}

    assert thawed(freeze(tree, detached=False)) == tree


def test_what_hangs_on_an_ordered_dict_stays() -> None:
    state = torch.nn.BatchNorm1d(2).state_dict()

    tree = thawed(freeze(state, detached=False))

    assert type(tree) is OrderedDict
    assert tree._metadata == state._metadata  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("value", "name"),
    [(argparse.Namespace(lr=1), "argparse.Namespace"), (numpy.zeros(3), "numpy")],
    ids=["an object", "an array"],
)
def test_what_the_careful_loader_refuses_is_named(value: object, name: str) -> None:
    assert any(name in each for each in refused({"x": value}))


def test_plain_state_is_refused_nothing() -> None:
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    tree = {"m": model.state_dict(), "o": optimizer.state_dict(), "d": torch.float16}

    assert refused(tree) == []


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")
@pytest.mark.parametrize(
    "build",
    [
        lambda: torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8),
        lambda: torch.ones(2, dtype=torch.complex64).conj(),
        lambda: torch.empty(2, device="meta"),
        lambda: torch.ones(2).untyped_storage(),
    ],
    ids=["quantised", "conjugated", "meta", "a storage"],
)
def test_tensors_of_unusual_kinds_go_another_way(build: Callable[[], object]) -> None:
    with pytest.raises(UnsupportedStateError):
        Plan(freeze({"x": build()}, detached=False).tensors, detached=False)


def test_what_cannot_be_pickled_is_refused_with_the_reason() -> None:
    with pytest.raises(UnsupportedStateError, match="lambda"):
        freeze({"f": lambda: 1}, detached=False)


def test_empty_bytes_are_refused_by_the_careful_loader_and_said_to_be() -> None:
    assert any("bytes" in each for each in refused({"x": b""}))


def test_a_number_too_long_for_the_careful_loader_is_said_to_be() -> None:
    assert refused({"x": 2**4000}) == ["Unsupported operand 139"]


@pytest.mark.parametrize("is_on", [True, False])
def test_the_collector_is_left_as_it_was(is_on: bool) -> None:
    (gc.enable if is_on else gc.disable)()
    try:
        with without_collecting():
            assert not gc.isenabled()
        assert gc.isenabled() is is_on
        with pytest.raises(UnsupportedStateError), without_collecting():
            freeze({"a": lambda: None}, detached=True)
        assert gc.isenabled() is is_on
    finally:
        gc.enable()


def test_what_was_frozen_may_be_garbage_in_a_circle() -> None:
    """Python 3.12.1 crashes there if it holds a view of the buffer that it was pickled into."""
    frozen = freeze({"step": 1}, detached=True)
    _, (kept,) = frozen.pickle([])
    assert type(kept) is bytes  # with any other Python, all that there is to be seen of it
    circle: list[object] = [frozen]
    circle.append(circle)
    del circle, frozen
    gc.collect()
