"""What each process of `bench save` is told to do: how many steps, how many saves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from statistics import median

import msgspec

from instride.bench.names import (
    DEFAULT_PARAMS,
    DEFAULT_ROUNDS,
    FEWEST_STEPS,
    FEWEST_STEPS_OF_NOTHING,
    MOST_SAVES_OF_A_RIVAL,
    MOST_STEPS,
    MOST_STEPS_BESIDE_A_RIVAL,
    MOST_STEPS_ON_A_GPU,
    NOTHING,
    NUM_IDLE_SAVES,
    SAVES_A_ROUND,
    STEPS_TO_PREPARE,
    is_ours,
    is_rival,
    saves_nothing,
)
from instride.bench.orders import Order, Task


class Request(msgspec.Struct, frozen=True):
    ways: Sequence[str]
    num_params: int = DEFAULT_PARAMS
    num_rounds: int = DEFAULT_ROUNDS
    device: str = "cpu"
    folder: str = "."
    num_saves: int = SAVES_A_ROUND
    watches_memory: bool = True
    is_synced_loop: bool = True
    resume: str | None = None
    """The file that answers are kept in, and that those of before are taken from."""


def order_for(
    request: Request, folder: Path, task: Task, way: str, windows_of_ours: Sequence[int]
) -> Order:
    """`windows_of_ours`: how many steps each save of ours took so far."""
    is_on_gpu = request.device != "cpu"
    made = Order(
        task=task,
        folder=str(folder),
        way=way,
        num_params=request.num_params,
        num_saves=request.num_saves,
        num_rest_steps=_fewest_steps(way, windows_of_ours),
        most_rest_steps=MOST_STEPS,
        num_prepare_steps=FEWEST_STEPS,
        is_saved_at_once=False,
        num_idle_saves=NUM_IDLE_SAVES,
        watches_memory=request.watches_memory,
        device=request.device,
        is_synced_loop=request.is_synced_loop,
    )
    return _on_gpu(made) if is_on_gpu else made


def _fewest_steps(way: str, windows_of_ours: Sequence[int]) -> int:
    """Of a window: what shows how windows drift must be as long as they are."""
    if not saves_nothing(way):
        return FEWEST_STEPS
    if way == NOTHING or not windows_of_ours:
        return FEWEST_STEPS_OF_NOTHING
    return max(FEWEST_STEPS_OF_NOTHING, round(median(windows_of_ours)))


def _on_gpu(order: Order) -> Order:
    """The same on a device whose steps hardly differ, and whose state is large."""
    rival = is_rival(order.way)
    return msgspec.structs.replace(
        order,
        num_saves=min(order.num_saves, MOST_SAVES_OF_A_RIVAL) if rival else order.num_saves,
        most_rest_steps=MOST_STEPS_BESIDE_A_RIVAL if rival else MOST_STEPS_ON_A_GPU,
        num_prepare_steps=STEPS_TO_PREPARE if is_ours(order.way) else FEWEST_STEPS,
        is_saved_at_once=True,
        num_idle_saves=0,
    )
