"""Freezing: nothing that happens afterwards is seen, and the tree is the same when it thaws."""

from __future__ import annotations

import argparse
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy
import pytest
import torch

from instride.snapshot.freezing import UnsupportedStateError, freeze
from instride.snapshot.pickling import Skeletons
from instride.snapshot.planning import Plan

pytestmark = pytest.mark.torch


def refused(tree: object) -> list[str]:
    """What torch's careful loader would refuse in a tree."""
    frozen = freeze(tree)
    return Skeletons(Plan(frozen.tensors, detached=False)).pickle(frozen)[1]


def test_numbers_and_lists_are_those_of_the_moment() -> None:
    tree: dict[str, Any] = {"list": [1, 2], "nested": {"set": {1}}}
    frozen = freeze(tree)

    tree["list"].append(3)
    tree["nested"]["set"].add(2)

    assert frozen.thaw([]) == {"list": [1, 2], "nested": {"set": {1}}}


def test_tensors_are_listed_once_however_often_they_occur() -> None:
    weight = torch.ones(2)

    assert len(freeze({"a": weight, "b": [weight], "c": torch.ones(2)}).tensors) == 2


def test_tensors_come_back_in_their_places() -> None:
    one, two = torch.ones(1), torch.zeros(1)
    frozen = freeze({"b": two, "a": [one, two]})
    stand_ins = [torch.full((1,), float(n)) for n in range(len(frozen.tensors))]

    tree: Any = frozen.thaw(stand_ins)

    assert tree["b"] is tree["a"][1] is stand_ins[0]
    assert tree["a"][0] is stand_ins[1]


def test_what_hangs_on_an_ordered_dict_stays() -> None:
    state = torch.nn.BatchNorm1d(2).state_dict()

    thawed: Any = freeze(state).thaw(list(state.values()))

    assert type(thawed) is OrderedDict
    assert thawed._metadata == state._metadata  # type: ignore[attr-defined]


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
        Plan(freeze({"x": build()}).tensors, detached=False)


def test_what_cannot_be_pickled_is_refused_with_the_reason() -> None:
    with pytest.raises(UnsupportedStateError, match="lambda"):
        freeze({"f": lambda: 1})


def test_a_plan_fits_as_long_as_nothing_moved() -> None:
    tensors = [torch.ones(4, 4), torch.ones(3)]
    plan = Plan(tensors, detached=True)

    assert plan.fits(tensors, detached=True)
    assert not plan.fits(tensors[:1], detached=True)
    assert not plan.fits([tensors[0].clone(), tensors[1]], detached=True)
    assert not plan.fits(tensors, detached=False)


def test_empty_bytes_are_refused_by_the_careful_loader_and_said_to_be() -> None:
    assert any("bytes" in each for each in refused({"x": b""}))
