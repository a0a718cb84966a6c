"""What plain `load_state_dict` takes is restored: a training that cannot go on is the worst."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import instride
from instride.errors import MismatchError
from tests.saver.holding import saved
from tests.saver.misfitting import layers, stepped, told

pytestmark = pytest.mark.torch


class Plain(torch.nn.Linear):
    """Loads by itself, and knows no `strict`."""

    def load_state_dict(self, state: Any) -> Any:
        return super().load_state_dict(state)


@pytest.mark.parametrize("strict", [True, False])
def test_a_module_that_knows_no_strictness_is_not_asked_for_any(
    strict: bool, tmp_path: Path
) -> None:
    saved(tmp_path, model=(model := Plain(2, 2)))
    with instride.Saver(tmp_path, model=(other := Plain(2, 2))) as saver:
        assert saver.restore(strict=strict) == 4
    assert torch.equal(other.weight, model.weight)


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (torch.uint8, torch.bool),
        (torch.float32, torch.bool),
        (torch.float32, torch.int64),
        (torch.float32, torch.bfloat16),
    ],
)
def test_another_kind_of_number_will_do(
    before: torch.dtype, now: torch.dtype, tmp_path: Path
) -> None:
    def masked(kind: torch.dtype, values: list[int]) -> torch.nn.Module:
        model = layers(4, 4)
        model.register_buffer("mask", torch.tensor(values, dtype=kind))
        return model

    saved(tmp_path, model=masked(before, [1, 0, 1]))
    other = masked(now, [0, 0, 0])
    with instride.Saver(tmp_path, model=other) as saver:
        assert saver.restore() == 4
    assert other.mask.dtype == now
    assert other.mask.int().tolist() == [1, 0, 1]


def test_groups_of_an_older_torch_get_what_they_had_not(tmp_path: Path) -> None:
    parts = stepped(layers(4, 4))
    for name in ("foreach", "fused", "maximize", "capturable", "differentiable"):
        parts["optimizer"].param_groups[0].pop(name, None)
    saved(tmp_path, **parts)
    with instride.Saver(tmp_path, **stepped(layers(4, 4))) as saver:
        assert saver.restore() == 4


@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.RMSprop, torch.optim.Adafactor])
def test_an_optimizer_of_another_kind_is_left_and_goes_on(
    kind: type[torch.optim.Optimizer], tmp_path: Path
) -> None:
    saved(tmp_path, **stepped(layers(4, 4)))
    parts = stepped(layers(4, 4), kind)
    with instride.Saver(tmp_path, **parts) as saver:
        with pytest.raises(MismatchError, match="it is of another kind"):
            saver.restore()
        assert "part `optimizer` stays as it was" in told(saver)
    parts["optimizer"].step()


@pytest.mark.parametrize(
    ("names", "trained", "now", "trained_now"),
    [
        ("ab", "ab", "abx", "bx"),
        ("abc", "abc", "abx", "bax"),
        ("xab", "xa", "ab", "ab"),
    ],
)
def test_moments_are_never_those_of_another(
    names: str, trained: str, now: str, trained_now: str, tmp_path: Path
) -> None:
    """They have the same shape, and an optimizer has no names."""

    def made(names: str, trained: str) -> tuple[torch.nn.ParameterDict, torch.optim.Optimizer]:
        model = torch.nn.ParameterDict({name: torch.nn.Parameter(torch.ones(4)) for name in names})
        return model, torch.optim.AdamW([model[name] for name in trained])

    model, optimizer = made(names, trained)
    for number, name in enumerate(trained):
        model[name].grad = torch.full((4,), float(number + 1))
    optimizer.step()
    saved(tmp_path, model=model, optimizer=optimizer)

    other, fresh = made(now, trained_now)
    with instride.Saver(tmp_path, model=other, optimizer=fresh) as saver:
        assert "whose moments are whose cannot be told" in told(saver)
    assert not fresh.state


def test_parameters_in_another_order_are_told_of(tmp_path: Path) -> None:
    """As torch does it; but not without a word."""
    first, second = (
        torch.nn.ModuleDict({n: torch.nn.Linear(4, 4) for n in ns}) for ns in ("ab", "ba")
    )
    saved(tmp_path, **stepped(first))
    parts = stepped(second)
    with (
        instride.Saver(tmp_path, **parts) as saver,
        pytest.warns(RuntimeWarning, match="have another order than in"),
    ):
        assert saver.restore() == 4


class Particular(torch.nn.Linear):
    def load_state_dict(self, state: Any, strict: bool = True, assign: bool = False) -> Any:
        assert "odd" in state, "no odd"


def test_whatever_a_part_raises_is_told_as_what_does_not_fit(tmp_path: Path) -> None:
    saved(tmp_path, model=torch.nn.Linear(2, 2))
    with instride.Saver(tmp_path, model=Particular(2, 2)) as saver:
        with pytest.raises(MismatchError, match="part `model`: AssertionError: no odd"):
            saver.restore()
        assert "AssertionError: no odd" in told(saver)


def test_a_newer_step_without_its_manifest_is_told_of(tmp_path: Path) -> None:
    model = torch.nn.Linear(2, 2)
    with instride.Saver(tmp_path, model=model) as saver:
        saver.save(1).wait(60)
        saver.save(2).wait(60)
    for manifest in (tmp_path / ".instride" / "manifests").glob("step_00000002*"):
        manifest.unlink()
    with (
        instride.Saver(tmp_path, model=model) as saver,
        pytest.warns(RuntimeWarning, match=r"step_00000002\.pt` is not restored"),
    ):
        assert saver.restore() == 2
