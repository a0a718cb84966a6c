"""Optimizers around an optimizer, that are of torch's class and never call its constructor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


class Silent(torch.optim.Optimizer):
    """Nothing but what a part needs, and a step: what it wraps cannot be found in it."""

    def __init__(self, wrapped: torch.optim.Optimizer) -> None:
        self._wrapped = wrapped

    def step(self, closure: Callable[[], Any] | None = None) -> None:
        self._wrapped.step(closure)

    def zero_grad(self, set_to_none: bool = True) -> None:
        self._wrapped.zero_grad(set_to_none)

    def state_dict(self) -> dict[str, Any]:
        state: dict[str, Any] = self._wrapped.state_dict()
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self._wrapped.load_state_dict(state_dict)


class Hidden(Silent):
    """One that also tells its parameters and its state, as schedulers want it."""

    @property
    def state(self) -> Any:
        return self._wrapped.state

    @property
    def param_groups(self) -> Any:
        return self._wrapped.param_groups

    @property
    def defaults(self) -> Any:
        return self._wrapped.defaults


class Accelerated(Hidden):
    """As accelerate's `AcceleratedOptimizer` is: what it wraps is its `optimizer`."""

    @property
    def optimizer(self) -> torch.optim.Optimizer:
        return self._wrapped


WRAPPERS = (Silent, Hidden, Accelerated)
