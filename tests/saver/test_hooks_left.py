"""The hooks of an optimizer, when a saver ends while something of a snapshot is still copied."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from instride.saver.beating import Beats
from tests.saver.following import Following

pytestmark = pytest.mark.torch


def make(
    kind: type[torch.optim.Optimizer] = torch.optim.AdamW,
) -> tuple[Following, torch.optim.Optimizer, Beats]:
    weight = torch.nn.Parameter(torch.zeros(1))
    weight.grad = torch.ones(1)
    optimizer = kind([weight], lr=0.1)
    engine: Any = Following()
    return engine, optimizer, Beats(engine, [optimizer], lambda: None)


def test_they_are_gone_when_it_ends() -> None:
    engine, optimizer, beats = make()
    optimizer.step()
    assert engine.asked == ["fence", "give way", "mark", "beat"]
    beats.stop()
    optimizer.step()
    assert len(engine.asked) == 4


def test_as_long_as_something_is_late_an_optimizer_waits_for_it() -> None:
    engine, optimizer, beats = make()
    engine.is_late = True
    beats.stop()
    optimizer.step()
    assert engine.asked == ["fence"]
    engine.is_late = False
    optimizer.step()
    assert engine.asked == ["fence", "fence"]
    assert beats._engine is None  # the hook stays, and holds nothing
    assert not beats._optimizers
    optimizer.step()
    assert engine.asked == ["fence", "fence"]


def test_the_first_step_beside_what_an_optimizer_keeps_shows_how_much_memory_training_needs() -> (
    None
):
    engine, optimizer, _ = make()
    optimizer.step()  # makes it
    assert not engine.has_stepped()
    optimizer.step()
    assert engine.has_stepped()


def test_what_an_optimizer_got_back_is_beside_its_first_step() -> None:
    _, before, _ = make()
    before.step()
    engine, optimizer, _ = make()
    optimizer.load_state_dict(before.state_dict())
    assert not engine.has_stepped()
    optimizer.step()
    assert engine.has_stepped()


def test_an_optimizer_that_keeps_nothing_shows_it_in_its_second_step() -> None:
    engine, optimizer, _ = make(torch.optim.SGD)
    optimizer.step()
    assert not engine.has_stepped()
    optimizer.step()
    assert engine.has_stepped()


def test_two_steps_of_the_loop_show_it_whatever_it_is_that_steps() -> None:
    engine, _, beats = make()
    for step in (1, 2):
        beats.step(step)
        assert not engine.has_stepped()
        beats._was_asked = False
    beats.step(3)
    assert engine.has_stepped()


def test_between_two_saves_there_was_a_step_if_none_is_ever_seen() -> None:
    engine, optimizer, _ = make()
    assert [engine.has_stepped() for _ in range(2)] == [False, True]
    engine, optimizer, _ = make()
    assert not engine.has_stepped()
    optimizer.step()  # the only one, as is seen
    assert not engine.has_stepped()
