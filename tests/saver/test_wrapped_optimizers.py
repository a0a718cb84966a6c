"""Optimizers that never called torch's constructor: they have no place for hooks, and are parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import instride
from instride.errors import MismatchError
from instride.saver.beating import Beats
from tests.saver.following import Following
from tests.saver.states import assert_same
from tests.saver.wrappers import WRAPPERS, Accelerated, Hidden, Silent

pytestmark = pytest.mark.torch

NUM_STEPS = 9
Wrapper = type[Silent]


def make(kind: Wrapper, width: int = 16) -> tuple[torch.nn.Module, Silent]:
    torch.manual_seed(1)
    model = torch.nn.Sequential(
        torch.nn.Linear(8, width), torch.nn.BatchNorm1d(width), torch.nn.Linear(width, 1)
    )
    return model, kind(torch.optim.AdamW(model.parameters(), lr=0.01))


def one_step(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> float:
    loss = model(torch.randn(4, 8)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return float(loss.detach())


def train(directory: Path, kind: Wrapper, stop_after: int) -> list[Any]:
    model, optimizer = make(kind)
    with instride.Saver(directory, model=model, optimizer=optimizer) as saver:
        start = saver.restore()
        losses = saver.extra.get("losses", [])
        for step in range(start, stop_after):
            losses.append(one_step(model, optimizer))
            if saver.due(step, every=4):
                saver.save(step, extra={"losses": losses})
    return [losses, model.state_dict(), optimizer.state_dict()]


@pytest.mark.parametrize("kind", WRAPPERS)
def test_a_run_that_was_resumed_is_the_same_run(kind: Wrapper, tmp_path: Path) -> None:
    whole = train(tmp_path / "whole", kind, NUM_STEPS)
    train(tmp_path / "parts", kind, 6)

    assert_same(train(tmp_path / "parts", kind, NUM_STEPS), whole)
    assert len(whole[0]) == NUM_STEPS


@pytest.mark.parametrize("kind", WRAPPERS)
def test_a_file_holds_what_the_wrapped_one_has(kind: Wrapper, tmp_path: Path) -> None:
    model, optimizer = make(kind)
    with instride.Saver(tmp_path, model=model, optimizer=optimizer) as saver:
        one_step(model, optimizer)
        path = saver.save(1).wait(60).path
        wanted = optimizer.state_dict()

    assert_same(torch.load(path, weights_only=True)["optimizer"], wanted)


def test_moments_of_what_does_not_fit_are_left_out_with_it(tmp_path: Path) -> None:
    model, optimizer = make(Accelerated)
    with instride.Saver(tmp_path, model=model, optimizer=optimizer) as saver:
        one_step(model, optimizer)
        saver.save(1)
    wider, its = make(Accelerated, 32)
    with instride.Saver(tmp_path, model=wider, optimizer=its) as saver:
        with pytest.raises(MismatchError, match="part `model`"):
            saver.restore()
        with pytest.warns(RuntimeWarning) as told:
            assert saver.restore(strict=False) == 2

    assert any("part `optimizer` stays as it was" in str(each.message) for each in told)
    assert its.state_dict()["state"] == {}


def test_what_is_wrapped_is_followed() -> None:
    model, optimizer = make(Accelerated)
    engine: Any = Following()
    beats = Beats(engine, [model, optimizer, optimizer._wrapped], lambda: None)
    one_step(model, optimizer)
    assert engine.asked == ["fence", "give way", "mark", "beat"], "once, although it is two parts"
    promised = beats._promise()()
    assert len(promised) == 4 * len(list(model.parameters()))
    beats.stop()
    one_step(model, optimizer)
    assert len(engine.asked) == 4


@pytest.mark.parametrize("kind", [Silent, Hidden])
def test_of_one_whose_steps_nobody_sees_nothing_is_promised(kind: Wrapper) -> None:
    model, optimizer = make(kind)
    engine: Any = Following()
    beats = Beats(engine, [model, optimizer], lambda: None)
    one_step(model, optimizer)
    assert engine.asked == []
    assert not beats._promise()()
    beats.step(1)
    assert engine.asked == ["give way", "mark", "beat"], "the loop tells of its steps"


def test_the_optimizer_of_a_scheduler_is_not_a_part() -> None:
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.1)
    engine: Any = Following()
    Beats(engine, [torch.optim.lr_scheduler.StepLR(optimizer, 1)], lambda: None)
    assert not optimizer._optimizer_step_pre_hooks
