"""Moments are restored only for parameters that are; every other optimizer stays as it was."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

import instride
from tests.saver.holding import saved
from tests.saver.misfitting import adam, layers, step, stepped, told

pytestmark = pytest.mark.torch


def test_moments_of_parameters_that_are_not_restored_are_left_out(tmp_path: Path) -> None:
    saved(tmp_path, **(parts := stepped(layers(4, 4, 8))))
    other = layers(4, 4, 16)
    optimizer = adam(other)

    with instride.Saver(tmp_path, model=other, optimizer=optimizer) as saver:
        said = told(saver)

    assert "`1.weight` is [8, 4] in the checkpoint and [16, 4] in the part" in said
    assert "the moments of 2 parameters that were not restored" in said
    assert torch.equal(other[0].weight, parts["model"][0].weight)
    assert list(optimizer.state) == [other[0].weight, other[0].bias]
    step(other, optimizer)
    assert [state["step"].item() for state in optimizer.state.values()] == [2, 2, 1, 1]


def test_moments_of_another_parameter_are_not_taken_for_those_of_its_place(tmp_path: Path) -> None:
    """The first layer is gone and there is one more at the end: all have another place."""
    model = torch.nn.ModuleDict({name: torch.nn.Linear(4, 4) for name in "abc"})
    saved(tmp_path, **stepped(model))
    other = torch.nn.ModuleDict({name: torch.nn.Linear(4, 4) for name in "bcd"})
    optimizer = adam(other)

    with instride.Saver(tmp_path, model=other, optimizer=optimizer) as saver:
        said = told(saver)

    assert torch.equal(other["b"].weight, model["b"].weight)
    assert "whose moments are whose cannot be told" in said
    assert not optimizer.state


def test_what_is_gone_may_have_been_a_parameter(tmp_path: Path) -> None:
    """It was a buffer, and nobody can tell: the moments of all others may be those of another."""
    model = layers(4, 4)
    model[0].register_buffer("seen", torch.ones(2))
    saved(tmp_path, **stepped(model))
    other = layers(4, 4)
    optimizer = adam(other)

    with instride.Saver(tmp_path, model=other, optimizer=optimizer) as saver:
        said = told(saver)

    assert "only the checkpoint has `0.seen`" in said
    assert "part `optimizer` stays as it was" in said
    assert not optimizer.state


class OfItsOwn(torch.optim.SGD):
    """Nobody knows what its state is."""


@pytest.mark.parametrize("kind", [OfItsOwn, torch.optim.LBFGS])
def test_an_optimizer_whose_moments_cannot_be_told_apart_is_left_as_a_whole(
    kind: type[torch.optim.Optimizer], tmp_path: Path
) -> None:
    saved(tmp_path, model=(model := layers(4, 4)), optimizer=kind(model.parameters(), lr=0.5))
    other = layers(4, 8)
    optimizer = kind(other.parameters(), lr=0.25)

    with instride.Saver(tmp_path, model=other, optimizer=optimizer) as saver:
        assert "part `optimizer` stays as it was" in told(saver)

    assert optimizer.param_groups[0]["lr"] == 0.25


@pytest.mark.parametrize("widths", [(4, 8), (4, 4, 4)], ids=["shapes", "names"])
def test_what_a_model_with_code_of_its_own_refuses_leaves_the_optimizer_alone(
    widths: tuple[int, ...], tmp_path: Path
) -> None:
    def hooked(*widths: int) -> torch.nn.Module:
        model = layers(*widths)
        model.register_load_state_dict_pre_hook(lambda *_: None)
        return model

    parts = stepped(hooked(*widths))
    moments = parts["optimizer"].state_dict()["state"][0]["exp_avg"].clone()
    saved(tmp_path, optimizer=stepped(layers(*widths))["optimizer"], model=layers(4, 4))

    with instride.Saver(tmp_path, optimizer=parts["optimizer"], model=parts["model"]) as saver:
        said = told(saver)

    assert "part `model` was not restored as a whole" in said
    assert "part `optimizer` was not restored as a whole" in said
    assert torch.equal(parts["optimizer"].state_dict()["state"][0]["exp_avg"], moments)


OPTIMIZERS = sorted(
    name
    for name, kind in vars(torch.optim).items()
    if isinstance(kind, type) and issubclass(kind, torch.optim.Optimizer)
    if name not in ("Optimizer", "SparseAdam")  # wants gradients of a kind of their own
)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_the_state_of_every_optimizer_of_torch_fits_itself(name: str, tmp_path: Path) -> None:
    shapes = [(4, 3)] if name == "Muon" else [(4, 3), (5,), (1,), (2, 3, 4)]

    def stepped_once() -> torch.optim.Optimizer:
        parameters = [torch.nn.Parameter(torch.ones(shape)) for shape in shapes]
        for parameter in parameters:
            parameter.grad = torch.ones_like(parameter)
        optimizer: torch.optim.Optimizer = getattr(torch.optim, name)(parameters, lr=0.1)
        optimizer.step(*[lambda: torch.ones(())] if name == "LBFGS" else [])
        return optimizer

    saved(tmp_path, optimizer=stepped_once())

    with instride.Saver(tmp_path, optimizer=stepped_once()) as saver:
        assert saver.restore() == 4
