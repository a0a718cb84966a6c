"""The parts of a training: anything with `state_dict()` and `load_state_dict()`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import torch

RESERVED = frozenset({"step", "rng", "extra", "instride"})


@runtime_checkable
class Part(Protocol):
    """A model, an optimizer, a scheduler, a data loader that remembers where it is."""

    def state_dict(self) -> Any: ...

    def load_state_dict(self, state: Any, /) -> Any: ...


def check_parts(parts: Mapping[str, object]) -> dict[str, Part]:
    """The parts, or TypeError and ValueError for what is none."""
    checked: dict[str, Part] = {}
    for name, part in parts.items():
        if name in RESERVED:
            raise ValueError(f"`{name}=` cannot be the name of a part: instride uses it itself")
        if not isinstance(part, Part):
            kind = type(part).__qualname__
            raise TypeError(
                f"`{name}` is a `{kind}`, without `state_dict()` and `load_state_dict()`; values "
                f"that change go along with each save: `saver.save(step, extra={{'{name}': ...}})`"
            )
        checked[name] = part
    if not checked:
        raise ValueError("nothing to save: name the parts, as in Saver('checkpoints', model=model)")
    return checked


def live_state(part: Part) -> Any:
    """The state of a part over its own tensors.

    A module would make new tensor objects each time; with `keep_vars` it hands out its own, which
    is quicker, and lets a plan be recognised.
    """
    if isinstance(part, torch.nn.Module) and type(part).state_dict is torch.nn.Module.state_dict:
        return part.state_dict(keep_vars=True)
    return part.state_dict()
