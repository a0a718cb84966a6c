"""Steps that are captured in a CUDA graph run no hooks when it is replayed."""

from __future__ import annotations

import threading
from itertools import cycle
from pathlib import Path

import pytest
import torch

import instride
from instride.snapshot.crossing import Crossing
from tests.gpu.holding import Holder
from tests.gpu.trainings import (
    NEEDS_A_GPU,
    Adding,
    assert_same,
    busy,
    hammer,
    load,
    lock_arena,
    make,
    make_model,
    one_step,
)

pytestmark = NEEDS_A_GPU


def test_a_step_that_is_a_replayed_graph_is_not_seen(room: str, tmp_path: Path) -> None:
    """The hooks ran before the first save, while the graph was captured, and never again."""
    weight = torch.zeros(8 << 20, device="cuda", requires_grad=True)
    weight.grad = torch.ones_like(weight)
    optimizer = torch.optim.SGD([weight], lr=1.0)
    holder = Holder(w=weight)
    with instride.Saver(tmp_path, optimizer=optimizer, state=holder) as saver:
        optimizer.step()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            optimizer.step()
        hammer(saver, {"state": holder}, graph.replay)


def test_a_step_that_is_a_graph_older_than_the_saver_is_not_seen(room: str, tmp_path: Path) -> None:
    """Nobody saw its capture; what was seen are the hooks of eager steps before each save."""
    model, optimizer = make(capturable=True)
    one_step(model, optimizer)
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        optimizer.step()
    steps = cycle([optimizer.step, graph.replay])
    parts = {"model": model, "optimizer": optimizer}
    with instride.Saver(tmp_path, **parts) as saver:
        hammer(saver, parts, lambda: next(steps)())


def test_a_graph_can_be_captured_while_a_snapshot_is_on_its_way(
    queue: torch.Tensor, room: str, tmp_path: Path
) -> None:
    x = torch.zeros(128 << 20, device="cuda")
    y = torch.zeros(1 << 20, device="cuda")
    with instride.Saver(tmp_path, state=Holder(x=x)) as saver:
        for step in range(1, 5):
            busy(queue)
            x.fill_(step)
            pending = saver.save(step)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                for _ in range(300):
                    y += 1
            graph.replay()
            assert bool((load(pending.wait(60).path)["state"]["x"] == step).all())


def test_a_capture_of_another_thread_goes_on_where_memory_is_to_be_given_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is scarce stays for that long, and goes then."""
    monkeypatch.setattr("instride.snapshot.device_memory.SCARCE_PART", 1)
    x, y = torch.zeros(1 << 20, device="cuda"), torch.zeros(1 << 20, device="cuda")
    is_capturing, may_end = threading.Event(), threading.Event()
    graph = torch.cuda.CUDAGraph()

    def capture() -> None:
        with torch.cuda.graph(graph):
            y.add_(1)
            is_capturing.set()
            assert may_end.wait(60)
            y.add_(1)

    thread = threading.Thread(target=capture, daemon=True)
    with instride.Saver(tmp_path, state=Holder(x=x)) as saver:
        saver.save(1).wait(60)
        thread.start()
        assert is_capturing.wait(60)
        saver.due(1)
        may_end.set()
        thread.join(60)
        x.fill_(2)
        assert bool((load(saver.save(2).wait(60).path)["state"]["x"] == 2).all())
    graph.replay()
    assert bool((y == 2).all())


def test_a_captured_optimizer_step_does_not_wait_for_what_is_outside(
    queue: torch.Tensor, no_room: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits for the end of the copy instead. A capture begins by waiting for the device: the
    copy is kept from ending, or it would be over by then."""
    may_end = threading.Event()
    finish = Crossing.finish

    def finish_late(crossing: Crossing) -> None:
        assert may_end.wait(60)
        finish(crossing)

    model = make_model()
    # Of a kind that cannot be told that it is captured: what can be is never late.
    optimizer = Adding(*model.parameters())
    with instride.Saver(tmp_path, model=model, optimizer=optimizer) as saver:
        for parameter in model.parameters():
            parameter.grad = torch.ones_like(parameter)
        optimizer.step()
        lock_arena(saver)  # what is copied at once to other memory is waited for
        busy(queue)
        optimizer.step()
        wanted = {name: value.clone() for name, value in model.state_dict().items()}
        monkeypatch.setattr(Crossing, "finish", finish_late)
        pending = saver.save(1)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            assert saver._engine.is_late, "or the capture would have nothing to wait for"
            threading.Timer(0.2, may_end.set).start()
            optimizer.step()
        assert may_end.is_set()
        graph.replay()
        assert_same(load(pending.wait(60).path)["model"], wanted)
