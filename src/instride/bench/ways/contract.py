"""What a way of saving is, and the one that saves nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Protocol

import torch

from instride.bench.training import Training


class Ticket(Protocol):
    """A save on its way."""

    def is_done(self) -> bool: ...

    def is_over(self) -> bool:
        """Whether nothing of it goes on any more, not even what comes after it is done."""
        ...

    def wait(self) -> None: ...


class Way(Protocol):
    """One way of saving a training."""

    is_synced: bool
    """Whether what is done is on the disk: others leave it to the system, and to luck."""

    @property
    def prepare_cost_s(self) -> float:
        """What it says that preparing has cost so far."""
        ...

    def save(self, step: int) -> Ticket: ...

    def guard(self) -> AbstractContextManager[object]:
        """What the optimizer step must be wrapped in, by the manual of this way."""
        ...

    def load(self, step: int) -> list[torch.Tensor]:
        """Every tensor that was saved, to be compared."""
        ...

    def close(self) -> None: ...


class Done:
    def is_done(self) -> bool:
        return True

    def is_over(self) -> bool:
        return True

    def wait(self) -> None:
        return


class FutureTicket:
    def __init__(self, future: Any) -> None:
        self._future = getattr(future, "upload_completion", future)

    def is_done(self) -> bool:
        return bool(self._future.done())

    def is_over(self) -> bool:
        return self.is_done()

    def wait(self) -> None:
        self._future.result()


@contextmanager
def behind(fence: Callable[[], None]) -> Iterator[None]:
    """A guard that waits first."""
    fence()
    yield


def tensors_in(tree: Any) -> list[torch.Tensor]:
    if isinstance(tree, torch.Tensor):
        return [tree]
    if isinstance(tree, dict):
        return [tensor for value in tree.values() for tensor in tensors_in(value)]
    if isinstance(tree, list | tuple):
        return [tensor for value in tree for tensor in tensors_in(value)]
    return []


class NoSaving:
    is_synced = False

    def __init__(self, training: Training, folder: Path) -> None:
        self._training = training

    @property
    def prepare_cost_s(self) -> float:
        return 0.0

    def save(self, step: int) -> Ticket:
        return Done()

    def guard(self) -> AbstractContextManager[object]:
        return nullcontext()

    def load(self, step: int) -> list[torch.Tensor]:
        return []

    def close(self) -> None:
        return
