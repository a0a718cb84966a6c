"""What the CUDA runtime is told, and which of several it is."""

from __future__ import annotations

import ctypes
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from instride.saver import leaving
from instride.saver.leaving import _close_here
from instride.snapshot import runtime
from instride.snapshot.runtime import RELAXED, letting_others_capture
from tests.unit.snapshot.modes import STRICT, Modes

pytestmark = pytest.mark.torch


@pytest.fixture
def modes(monkeypatch: pytest.MonkeyPatch) -> Modes:
    made = Modes()
    made.install(monkeypatch)
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    monkeypatch.setattr(torch.cuda, "device", nullcontext)
    monkeypatch.setattr(leaving, "gpus_in_use", lambda: {torch.device("cuda", 0)})
    return made


def test_a_thread_is_as_strict_as_before_once_it_has_let_others_capture(modes: Modes) -> None:
    """The thread that trains may have to take a hand, and captures graphs itself."""
    with letting_others_capture():
        with pytest.raises(InterruptedError), letting_others_capture():
            raise InterruptedError
        assert modes.here == RELAXED
    assert modes.here == STRICT


def test_whoever_closes_what_was_dropped_lets_others_capture(modes: Modes) -> None:
    """What is locked is unlocked then, in a thread that training knows nothing of."""
    seen: list[int] = []

    class Engine:
        def close(self) -> None:
            seen.append(modes.here)

    _close_here(Engine())
    assert seen == [RELAXED]


def test_where_no_gpu_is_used_no_runtime_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "_runtime", lambda: pytest.fail("there may be no /proc"))
    with letting_others_capture():
        pass
    seen: list[bool] = []
    _close_here(SimpleNamespace(close=lambda: seen.append(True)))
    assert seen


@pytest.mark.parametrize(
    ("libraries", "found"),
    [
        (["/opt/a/libcudart.so.12", "/venv/libcudart.so.13"], "/venv/libcudart.so.13"),
        (["/a/libcudart-9f.so.13.0.9", "/b/libcudart.so.12"], "/a/libcudart-9f.so.13.0.9"),
        (["/opt/libcudart.so.11.0"], "/opt/libcudart.so.11.0"),
        ([], None),
    ],
)  # fmt: skip
def test_the_runtime_is_that_of_torch(
    libraries: list[str], found: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another library may have brought one of its own along."""
    maps = [f"7f00-7f01 r-xp 00000000 08:01 1234 {each}" for each in ["/lib/libc.so.6", *libraries]]
    monkeypatch.setattr(Path, "read_text", lambda path, encoding: "\n".join(maps))
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(ctypes, "CDLL", lambda path: path)
    assert runtime._runtime.__wrapped__() == found
