"""What may be copied late: what belongs to optimizers that were seen to step, and will be again."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

import instride
from instride.saver.beating import Beats
from instride.snapshot.copying import WholeCopy
from instride.snapshot.late import Storages
from tests.saver.following import Following

pytestmark = pytest.mark.torch


def following(*optimizers: torch.optim.Optimizer) -> Beats:
    return Beats(Following(), optimizers, lambda: None)


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


@pytest.mark.parametrize("graph", ["none", "one", "one that was frozen"])
def test_of_an_optimizer_without_a_flag_nothing_is_promised_where_a_graph_is_older(
    graph: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    """It may be a graph of its step: SGD can be captured, and does not say so."""

    class Graph:
        """Stands for one that was captured: there is no GPU to capture it on."""

    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    monkeypatch.setattr(torch.cuda, "CUDAGraph", Graph)
    made = None if graph == "none" else Graph()
    if graph == "one that was frozen":  # as those do who want quick collections
        request.addfinalizer(gc.unfreeze)
        gc.freeze()
    plain, flagged = torch.optim.SGD([parameter()], lr=0.1), torch.optim.AdamW([parameter()])
    beats = following(plain, flagged)
    plain.step()
    flagged.step()
    num_promised = len(beats._promise()())
    assert num_promised == 4 + (made is None), "those of AdamW, which would have had to say so"


def test_what_keeps_a_number_for_all_parameters_is_promised_as_well() -> None:
    optimizer = torch.optim.AdamW([parameter()])
    beats = following(optimizer)
    optimizer.step()
    optimizer.state["num_seen"] = 3
    assert len(beats._promise()()) == 4


def test_memory_that_somebody_else_has_a_part_of_is_not_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Storages] = []
    copy = WholeCopy.copy

    def ask(whole: WholeCopy, promise: Callable[[], Storages]) -> None:
        asked.append(promise())
        copy(whole, promise)

    monkeypatch.setattr(WholeCopy, "copy", ask)
    model = torch.nn.Linear(4, 3)
    model.register_buffer("row", model.weight.data[1])
    optimizer = torch.optim.AdamW(model.parameters())
    with instride.Saver(tmp_path, model=model, optimizer=optimizer) as saver:
        model(torch.ones(1, 4)).sum().backward()
        optimizer.step()
        saver.save(1).wait(60)

    late = [model.bias, *(each for of in optimizer.state.values() for each in of.values())]
    assert list(map(list, asked)) == [[tensor.data_ptr() for tensor in late]]
