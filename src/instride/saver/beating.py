"""Beats: how the writer learns how fast training goes, for a few microseconds a step."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import torch

from instride.saver.engine import Engine

UNKNOWN_STEP = -1
NUM_PREPARED = 2
"""After so many optimizer steps the state has its final size, and memory is asked for again."""


class Beats:
    """Notes the passing of steps: as the loop says it, else as the optimizer does."""

    def __init__(
        self, engine: Engine, parts: Iterable[object], prepare: Callable[[], None]
    ) -> None:
        self._page = engine.page
        self._prepare = prepare
        self._loop_says = False
        self._num_steps = 0
        self._last_optimizer: int | None = None
        self._handles = [
            part.register_step_post_hook(self._make_hook())
            for part in parts
            if isinstance(part, torch.optim.Optimizer)
        ]

    def step(self, step: int) -> None:
        """The loop told its step: better than anything an optimizer tells."""
        self._loop_says = True
        self._page.beat(step, time.monotonic())

    def _make_hook(self) -> Callable[..., None]:
        # A compiled optimizer step would trace the hook, and compile anew until it gives up.
        return torch.compiler.disable(self._on_optimizer_step)  # type: ignore[no-any-return]

    def _on_optimizer_step(self, optimizer: Any, *_: object) -> None:
        """Only the same optimizer seen again is another step: there may be several."""
        if self._last_optimizer is None:
            self._last_optimizer = id(optimizer)
        if self._last_optimizer != id(optimizer):
            return
        self._num_steps += 1
        if self._num_steps <= NUM_PREPARED:
            self._prepare()
        if not self._loop_says:
            self._page.beat(UNKNOWN_STEP, time.monotonic())

    def stop(self) -> None:
        for handle in self._handles:
            handle.remove()
        self._handles = []
