"""What each thread has said of captures by others, as the CUDA runtime keeps it."""

from __future__ import annotations

import ctypes
import threading
from types import SimpleNamespace
from typing import Any

import pytest

STRICT = 0


class Modes:
    def __init__(self) -> None:
        self._of_threads: dict[int, int] = {}

    def exchange(self, mode: Any) -> int:
        wanted: ctypes.c_int = mode._obj
        me = threading.get_ident()
        before = self._of_threads.get(me, STRICT)
        self._of_threads[me] = wanted.value
        wanted.value = before
        return 0

    @property
    def here(self) -> int:
        return self._of_threads.get(threading.get_ident(), STRICT)

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        runtime = SimpleNamespace(
            cudaThreadExchangeStreamCaptureMode=self.exchange, cudaGetLastError=lambda: 0
        )
        monkeypatch.setattr("instride.snapshot.runtime._runtime", lambda: runtime)
