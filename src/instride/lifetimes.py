"""How long things live: until the end of a `with`, or as long as the thread that made them."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Generic, Self, TypeVar

T = TypeVar("T")


class Closing(ABC):
    """What a `with` closes, however it ends."""

    @abstractmethod
    def close(self) -> None:
        """May be called again."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class OpenFile(Closing):
    """An open file by its descriptor alone: threads read and write at places of their own."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class PerThread(Generic[T]):
    """One for each thread, made when the thread first asks: what keeps state while it works, or
    memory that is worth using again."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._local = threading.local()

    def get(self) -> T:
        try:
            mine: T = self._local.mine
        except AttributeError:
            mine = self._local.mine = self._make()
        return mine
