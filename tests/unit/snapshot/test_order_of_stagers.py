"""What a whole save does of simulated GPUs off the training thread, while that may be capturing:
whoever asks a stream, or waits for anything, lets others capture, or ends what they capture."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from instride.saver.staged import Staged
from instride.saver.staging import Stager
from instride.snapshot.freezing import Frozen
from instride.snapshot.runtime import RELAXED
from tests.unit.snapshot.modes import Modes
from tests.unit.snapshot.pretended import FIRST
from tests.unit.snapshot.saves import ROOMS, elsewhere
from tests.unit.snapshot.simulated import Gpus
from tests.unit.snapshot.streams import Event, Stream

pytestmark = [
    pytest.mark.torch,
    pytest.mark.parametrize("gpus", ["as late as possible", "training first"], indirect=True),
]

ASKING = [(Stream, "query"), (Stream, "synchronize"), (Event, "query"), (Event, "synchronize")]


class Capturing(Modes):
    """The thread that trains: others that are as strict as it is would end its capture."""

    def __init__(self) -> None:
        super().__init__()
        self._trains = threading.get_ident()
        self.num_asked = 0

    def asking(self, ask: Callable[..., Any]) -> Callable[..., Any]:
        def asked(*of: Any) -> Any:
            if threading.get_ident() != self._trains:
                assert self.here == RELAXED
                self.num_asked += 1
            return ask(*of)

        return asked


@pytest.fixture
def capturing(gpus: Gpus, monkeypatch: pytest.MonkeyPatch) -> Capturing:
    capturing = Capturing()
    capturing.install(monkeypatch)
    for kind, name in ASKING:
        monkeypatch.setattr(kind, name, capturing.asking(getattr(kind, name)))
    monkeypatch.setattr(torch.cuda, "synchronize", capturing.asking(gpus.synchronize))
    return capturing


@pytest.fixture
def stager(capturing: Capturing, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stager]:
    """What it is given are tensors, and what it makes of all else is nothing."""
    monkeypatch.setattr(
        "instride.saver.staging.freeze", lambda tree, *, detached: Frozen(b"", list(tree), [])
    )
    nothing = SimpleNamespace(pickle=lambda frozen: (b"", []))
    monkeypatch.setattr(Stager, "fragments", lambda stager, plan: nothing)
    stager = Stager(None)
    yield stager
    stager.close()


def tensors() -> list[torch.Tensor]:
    made = [torch.empty(size, dtype=torch.float32, device=FIRST) for size in (70_001, 300_000)]
    return [*made, torch.zeros(9)]


def post(staged: Staged) -> None:
    staged.small_records()


@pytest.mark.parametrize("detached", [True, False])
@pytest.mark.parametrize("room", ROOMS)
def test_all_that_follows_a_save_lets_training_capture(
    room: str, detached: bool, gpus: Gpus, stager: Stager, capturing: Capturing
) -> None:
    gpus.free_bytes = (1 << 30) + ROOMS[room]
    tree = tensors()
    stager.prepare(tree, detached=detached)
    stager.await_ready(60)
    for number in range(4):
        if number == 2:  # another one, for which all is planned anew
            tree = tensors()[1:]
        staged = stager.take(tree, detached=detached, allow_strange=False)
        elsewhere(partial(post, staged))
        stager.give_way()
    stager.abandon()
    assert capturing.num_asked
