"""The hooks of an optimizer, when a saver ends while something of a snapshot is still copied."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from instride.saver.beating import Beats
from tests.saver.following import Following

pytestmark = pytest.mark.torch


def make() -> tuple[Following, torch.optim.Optimizer, Beats]:
    weight = torch.nn.Parameter(torch.zeros(1))
    weight.grad = torch.ones(1)
    optimizer = torch.optim.AdamW([weight])
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


def test_a_step_is_what_shows_how_much_memory_training_needs() -> None:
    engine, optimizer, _ = make()
    assert not engine.has_stepped()
    optimizer.step()
    assert engine.has_stepped()
    other, _, beats = make()
    beats.step(1)
    assert not other.has_stepped()
    beats.step(2)  # whatever it is that steps
    assert other.has_stepped()
    warm: Any = Following()
    Beats(warm, [optimizer], lambda: None)
    assert warm.has_stepped()
