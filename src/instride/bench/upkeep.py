"""What instride takes from the training thread besides the copy: planning, and beats."""

from __future__ import annotations

import time
from pathlib import Path
from statistics import median

import torch

from instride import Saver
from instride.bench.orders import Upkeep
from instride.saver.parts import live_state
from instride.snapshot.freezing import freeze, without_collecting
from instride.snapshot.planning import Plan

NUM_TENSORS = 2000
NUM_PLANS = 50
NUM_BEATS = 20_000


def measure_upkeep(folder: Path) -> Upkeep:
    # Of each parameter, Adam keeps two moments and a count of steps.
    parameters = [torch.nn.Parameter(torch.ones(8)) for _ in range(NUM_TENSORS // 4)]
    model = torch.nn.ParameterList(parameters)
    optimizer = torch.optim.AdamW(model.parameters())
    for parameter in parameters:
        parameter.grad = torch.ones(8)
    optimizer.step()
    return Upkeep(_planning_s(model, optimizer), _beat_s(folder, model))


def _planning_s(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> float:
    """Collecting the state, freezing it, and seeing that the plan of before still fits."""
    plan: Plan | None = None
    took_s = []
    for _ in range(NUM_PLANS):
        start_s = time.perf_counter()
        tree = {"model": live_state(model), "optimizer": live_state(optimizer)}
        with without_collecting():
            frozen = freeze(tree, detached=True)
            fits = plan is not None and plan.follow(frozen.tensors, detached=True) == []
        took_s.append(time.perf_counter() - start_s)
        if not fits:
            assert plan is None, "a plan must fit the same state again"
            plan = Plan(frozen.tensors, detached=True)
    return median(took_s[1:])


def _beat_s(folder: Path, model: torch.nn.Module) -> float:
    with Saver(folder, model=model) as saver:
        start_s = time.perf_counter()
        for step in range(1, NUM_BEATS + 1):
            saver.due(step, every=2 * NUM_BEATS)
        return (time.perf_counter() - start_s) / NUM_BEATS
