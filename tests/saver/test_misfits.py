"""A checkpoint that does not fit changes nothing; `strict=False` says all that it left out."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch

import instride
from instride.errors import MismatchError
from tests.saver.holding import saved

pytestmark = pytest.mark.torch


def layers(*widths: int) -> torch.nn.Sequential:
    return torch.nn.Sequential(*(torch.nn.Linear(*pair) for pair in pairwise(widths)))


def adam(model: torch.nn.Module, *, num_groups: int = 1) -> torch.optim.AdamW:
    parameters = list(model.parameters())
    groups = [{"params": parameters[number::num_groups]} for number in range(num_groups)]
    return torch.optim.AdamW(groups, lr=0.1)


def step(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> None:
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    optimizer.step()


def stepped(model: torch.nn.Module) -> dict[str, Any]:
    optimizer = adam(model)
    step(model, optimizer)
    return {"model": model, "optimizer": optimizer}


def told(saver: instride.Saver) -> str:
    with pytest.warns(RuntimeWarning) as warned:
        assert saver.restore(strict=False) == 4
    return "\n".join(str(each.message) for each in warned)


def with_complex_buffer(dtype: torch.dtype) -> torch.nn.Module:
    model = layers(4, 4)
    model.register_buffer("phase", torch.ones(2, dtype=dtype))
    return model


def with_scaler(*, enabled: bool) -> dict[str, Any]:
    return {"model": layers(4, 4), "scaler": torch.amp.GradScaler("cpu", enabled=enabled)}


def both(model: torch.nn.Module, num_groups: int = 1) -> dict[str, Any]:
    return {"model": model, "optimizer": adam(model, num_groups=num_groups)}


PAIRS: dict[str, tuple[Callable[[], dict[str, Any]], Callable[[], dict[str, Any]], str]] = {
    "groups": (
        lambda: stepped(layers(4, 4)),
        lambda: both(layers(4, 4), 2),
        "part `optimizer`: groups of parameters: 1 in the checkpoint, 2 in the part",
    ),
    "parameters of a group": (
        lambda: stepped(layers(4, 4)),
        lambda: {"model": (model := layers(4, 4)), "optimizer": torch.optim.SGD([model[0].weight])},
        "part `optimizer`: parameters in group 0: 2 in the checkpoint, 1 in the part",
    ),
    "moments": (
        lambda: {"model": layers(4, 4), "optimizer": stepped(layers(3, 4))["optimizer"]},
        lambda: both(layers(4, 4)),
        "`exp_avg` of parameter 0 is [4, 3], of a parameter of [4, 4]",
    ),
    "a part": (
        lambda: {"model": layers(4, 4)},
        lambda: both(layers(4, 4)),
        "it has no part `optimizer`",
    ),
    "a second model": (
        lambda: {"model": layers(4, 4), "teacher": layers(4, 8)},
        lambda: {"model": layers(4, 4), "teacher": layers(4, 4)},
        "part `teacher`: `0.weight` is [8, 4] in the checkpoint and [4, 4] in the part, and 1 "
        "more differ",
    ),
    "names": (
        lambda: {"model": layers(4, 4)},
        lambda: {"model": layers(4, 4, 4)},
        "part `model`: only the part has `1.weight` and `1.bias`",
    ),
    "many names": (
        lambda: {"model": layers(4, 4, 4, 4)},
        lambda: {"model": layers(4, 4)},
        "only the checkpoint has `1.weight`, `1.bias`, `2.weight` and 1 more",
    ),
    "kinds of numbers": (
        lambda: {"model": with_complex_buffer(torch.complex64)},
        lambda: {"model": with_complex_buffer(torch.float32)},
        "`phase` is torch.complex64 in the checkpoint and torch.float32 in the part",
    ),
    "a scaler": (
        lambda: with_scaler(enabled=False),
        lambda: with_scaler(enabled=True),
        "part `scaler`: it was not enabled when it was saved",
    ),
}


@pytest.mark.parametrize("is_packed", [False, True], ids=["plain", "packed"])
@pytest.mark.parametrize("name", PAIRS)
def test_what_does_not_fit_is_found_before_anything_is_changed(
    name: str, is_packed: bool, tmp_path: Path
) -> None:
    saved_parts, parts_here, why = PAIRS[name]
    with instride.Saver(tmp_path, pack=is_packed, **saved_parts()) as saver:
        saver.save(3).wait(60)
    parts = parts_here()
    before = {each: value.clone() for each, value in parts["model"].state_dict().items()}
    generator = torch.get_rng_state()

    with instride.Saver(tmp_path, **parts) as saver:
        with pytest.raises(MismatchError, match=re.escape(why)):
            saver.restore()

        assert saver.restored is None
        after = parts["model"].state_dict()
        assert all(torch.equal(after[each], before[each]) for each in before)
        assert torch.equal(torch.get_rng_state(), generator)
        assert told(saver)


def test_moments_that_are_there_stay_when_an_optimizer_does_not_fit(tmp_path: Path) -> None:
    saved(tmp_path, **stepped(layers(4, 4)))
    parts = stepped(model := layers(4, 4, 4))
    step(model, parts["optimizer"])
    moments = parts["optimizer"].state[model[0].weight]["exp_avg"].clone()

    with instride.Saver(tmp_path, **parts) as saver:
        said = told(saver)

    assert "part `optimizer` stays as it was" in said
    assert torch.equal(parts["optimizer"].state[model[0].weight]["exp_avg"], moments)


def test_numbers_of_another_width_still_fit(tmp_path: Path) -> None:
    saved(tmp_path, **stepped(model := layers(4, 4)))
    other = layers(4, 4).bfloat16()

    with instride.Saver(tmp_path, model=other, optimizer=adam(other)) as saver:
        assert saver.restore() == 4

    assert torch.equal(other[0].weight, model[0].weight.bfloat16())


def test_names_that_do_not_match_are_told(tmp_path: Path) -> None:
    saved(tmp_path, model=torch.nn.Linear(4, 4))
    before = (model := layers(4, 4))[0].weight.detach().clone()

    with instride.Saver(tmp_path, model=model) as saver:
        said = told(saver)

    assert "only the checkpoint has `weight` and `bias` (left out)" in said
    assert "only the part has `0.weight` and `0.bias` (unchanged)" in said
    assert torch.equal(model[0].weight, before)


WRAPPERS: dict[str, Callable[[torch.nn.Module], torch.nn.Module]] = {
    "_orig_mod": partial(torch.compile, backend="eager"),
    "module": torch.nn.DataParallel,
}


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("is_saved", [True, False])
def test_the_name_of_a_wrapper_is_the_reason_and_the_hint_works(
    wrapper: str, is_saved: bool, tmp_path: Path
) -> None:
    wrap = WRAPPERS[wrapper]
    saved(tmp_path, model=wrap(inner := layers(4, 4)) if is_saved else (inner := layers(4, 4)))
    model = layers(4, 4) if is_saved else wrap(layers(4, 4))

    with instride.Saver(tmp_path, model=model) as saver:
        with pytest.raises(MismatchError, match=f"begin with `{wrapper}.` in the") as raised:
            saver.restore()
        assert f"hint: {raised.value.hint}" in told(saver)
    given = re.search(r"`model=([^`]+)`", raised.value.hint)
    assert given is not None
    with instride.Saver(tmp_path, model=eval(given[1])) as saver:
        assert saver.restore() == 4

    for mine, its in zip(model.parameters(), inner.parameters(), strict=True):
        assert torch.equal(mine, its)


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


def test_a_buffer_that_is_gone_costs_no_moments(tmp_path: Path) -> None:
    model = layers(4, 4)
    model[0].register_buffer("seen", torch.ones(2))
    saved(tmp_path, **stepped(model))
    other = layers(4, 4)
    optimizer = adam(other)

    with instride.Saver(tmp_path, model=other, optimizer=optimizer) as saver:
        said = told(saver)

    assert "only the checkpoint has `0.seen`" in said
    assert "optimizer" not in said
    assert len(optimizer.state) == 2


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
