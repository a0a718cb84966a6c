"""A part that is nothing but tensors."""

from __future__ import annotations

import torch


class Holder:
    """Tensors as a part."""

    def __init__(self, **tensors: torch.Tensor) -> None:
        self.tensors = tensors

    def state_dict(self) -> dict[str, torch.Tensor]:
        return self.tensors

    def load_state_dict(self, state: dict[str, torch.Tensor]) -> None:
        with torch.no_grad():  # some are parameters
            for name, tensor in state.items():
                self.tensors[name].copy_(tensor)
