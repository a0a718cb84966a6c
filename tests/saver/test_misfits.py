"""A checkpoint that does not fit changes nothing; `strict=False` says all that it left out."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

import instride
from instride.errors import MismatchError
from tests.saver.holding import saved
from tests.saver.misfitting import adam, layers, step, stepped, told

pytestmark = pytest.mark.torch


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
    "kinds of optimizers": (
        lambda: stepped(layers(4, 4), torch.optim.SGD),
        lambda: stepped(layers(4, 4), torch.optim.AdamW),
        "it has no `betas` and `eps`, which AdamW needs: it is of another kind",
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
