"""What may be copied late: what belongs to optimizers that were seen to step, and will be again."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from instride.saver.beating import Beats
from tests.saver.following import Following

pytestmark = pytest.mark.torch


def following(*optimizers: torch.optim.Optimizer) -> Beats:
    engine: Any = Following()
    return Beats(engine, optimizers, lambda: None)


def parameter(*, has_grad: bool = True) -> torch.nn.Parameter:
    made = torch.nn.Parameter(torch.zeros(3))
    made.grad = torch.ones(3) if has_grad else None
    return made


def test_what_an_optimizer_changes_is_promised_once_after_each_step() -> None:
    optimizer = torch.optim.AdamW([parameter()])
    beats = following(optimizer)
    assert not beats._promise()(), "it has not been seen to step"
    optimizer.step()
    assert len(beats._promise()()) == 4, "a parameter, its moments and their count"
    assert not beats._promise()(), "it may go on by a graph that is replayed"


@pytest.mark.parametrize("is_given_later", [False, True])
def test_of_an_optimizer_for_graphs_nothing_is_promised(is_given_later: bool) -> None:
    """One that was captured before anybody looked runs no hooks when that graph is replayed."""
    # Without gradients: on a CPU, there is no step that could be captured.
    captured = torch.optim.AdamW([parameter(has_grad=False)], capturable=not is_given_later)
    if is_given_later:
        captured.add_param_group({"params": [parameter(has_grad=False)], "capturable": True})
    other = torch.optim.SGD([parameter()], lr=0.1)
    beats = following(captured, other)
    captured.step()
    other.step()
    assert len(beats._promise()()) == 1, "the parameter of the other"
