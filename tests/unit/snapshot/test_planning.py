"""A plan is kept as long as the structure is: other memory of the same shapes is only followed."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import pytest
import torch
from torch.multiprocessing.reductions import StorageWeakRef

from instride.snapshot.freezing import UnsupportedStateError
from instride.snapshot.planning import Plan

pytestmark = pytest.mark.torch

ZEROS = torch._efficientzerotensor(3)


def followed(plan: Plan, tensors: list[torch.Tensor]) -> list[int] | None:
    """What moved; the plan has the bytes of these tensors then, and not those of others."""
    moved = plan.follow(tensors, detached=True)
    if moved is not None:
        for spec, tensor in zip(plan.specs, tensors, strict=True):
            storage = plan.sources[spec.storage].untyped_storage()
            assert storage.data_ptr() == tensor.untyped_storage().data_ptr()
    return moved


def test_a_plan_is_followed_as_it_is_as_long_as_nothing_moved() -> None:
    tensors = [torch.ones(4, 4), torch.ones(3)]
    plan = Plan(tensors, detached=True)

    assert followed(plan, tensors) == []
    assert plan.follow(tensors[:1], detached=True) is None
    assert plan.follow(tensors, detached=False) is None


def test_fresh_tensors_of_the_same_shapes_are_followed() -> None:
    kept, fresh = torch.ones(4, 4), torch.ones(3)
    plan = Plan([kept, fresh], detached=True)
    layout = plan.layout

    for _ in range(3):
        assert followed(plan, [kept, fresh.clone()]) == [1]
    assert sorted(followed(plan, [kept.clone(), fresh.clone()]) or []) == [0, 1]
    assert plan.layout is layout


def test_two_tensors_that_change_places_are_followed() -> None:
    one, two = torch.ones(4), torch.zeros(4)
    plan = Plan([one, two], detached=True)

    assert sorted(followed(plan, [two, one]) or []) == [0, 1]


def test_views_of_one_storage_are_followed_together() -> None:
    base = torch.arange(8)
    plan = Plan([base, base[2:5]], detached=True)
    other = torch.arange(8) + 1

    assert followed(plan, [other, other[2:5]]) == [0]


@pytest.mark.parametrize(
    "build",
    [
        lambda one, two: [one, one],
        lambda one, two: [one, torch.cat([two, two])[:4]],
        lambda one, two: [one, torch.cat([two, two])[4:]],
        lambda one, two: [one, torch.empty(4, 2)[:, 0]],
        lambda one, two: [one, two.double()],
        lambda one, two: [one, torch.complex(two, two).conj().imag],
    ],
    ids=["shared", "seen in part", "seen later", "strided", "wider", "negated"],
)
def test_another_structure_needs_another_plan(
    build: Callable[[torch.Tensor, torch.Tensor], list[torch.Tensor]],
) -> None:
    tensors = [torch.ones(4), torch.ones(4)]
    plan = Plan(tensors, detached=True)

    assert plan.follow(build(*tensors), detached=True) is None


def test_what_was_shared_and_is_not_any_more_needs_another_plan() -> None:
    base = torch.arange(8)
    plan = Plan([base, base[2:5]], detached=True)
    other = torch.arange(8)

    assert plan.follow([base, other[2:5]], detached=True) is None
    assert plan.follow([other, base[2:5]], detached=True) is None
    assert plan.follow([other, torch.arange(8)[2:5]], detached=True) is None


def test_an_empty_view_does_not_hide_that_its_storage_is_another_one() -> None:
    base = torch.arange(8)
    plan = Plan([base, base[:0]], detached=True)
    other = torch.arange(8)

    assert plan.follow([other, other[:0]], detached=True) is None


def test_what_conjugates_is_not_taken_for_what_it_views() -> None:
    value = torch.ones(4, dtype=torch.cfloat)
    plan = Plan([value], detached=True)

    assert plan.follow([value.conj()], detached=True) is None


def test_a_parameter_is_not_taken_for_its_tensor() -> None:
    parameter = torch.nn.Parameter(torch.ones(4), requires_grad=False)
    plan = Plan([parameter], detached=False)

    assert plan.follow([parameter.data], detached=False) is None
    assert plan.follow([parameter], detached=False) == []


def test_memory_that_was_given_to_somebody_else_is_not_taken_for_what_was_there() -> None:
    value = torch.ones(4)
    plan = Plan([value], detached=True)
    memory = (ctypes.c_char * 16).from_address(value.data_ptr())
    other = torch.frombuffer(memory, dtype=torch.float32)  # in a storage of its own
    assert plan.follow([value], detached=True) == []

    value.untyped_storage().resize_(0)

    assert plan.follow([other], detached=True) is None


def test_a_storage_that_became_another_one_in_its_place_is_noticed() -> None:
    value = torch.ones(4)
    plan = Plan([value], detached=True)

    value.untyped_storage().resize_(0)
    value.untyped_storage().resize_(16)
    moved = plan.follow([value], detached=True)

    assert moved is None


def test_a_plan_that_let_go_of_everything_follows_whatever_comes() -> None:
    tensors = [torch.ones(4), torch.arange(8), torch.empty(0)]
    plan = Plan(tensors, detached=True)
    storages = [StorageWeakRef(tensor.untyped_storage()) for tensor in tensors]
    layout = plan.layout

    assert sorted(plan.let_go(of_all=True)) == [0, 1, 2]
    del tensors
    assert all(storage.expired() for storage in storages)
    fresh = [torch.zeros(4), torch.arange(8), torch.empty(0)]
    assert sorted(followed(plan, fresh) or []) == [0, 1, 2]
    assert plan.layout is layout
    assert followed(plan, fresh) == []


def test_a_plan_lets_go_of_what_nobody_else_has() -> None:
    kept = torch.ones(4)
    plan = Plan([kept, torch.ones(8)], detached=True)

    assert plan.let_go(of_all=False) == [1]
    assert followed(plan, [kept, torch.zeros(8)]) == [1]


def test_zeros_without_memory_are_refused_in_any_place() -> None:
    plan = Plan([torch.ones(3)], detached=True)

    with pytest.raises(UnsupportedStateError):
        Plan([ZEROS], detached=True)
    with pytest.raises(UnsupportedStateError):
        plan.follow([ZEROS], detached=True)
