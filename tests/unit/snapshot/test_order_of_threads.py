"""What threads that copy off simulated GPUs do to the process: they use no other device, and leave
graphs alone that others capture."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from types import SimpleNamespace

import pytest
import torch

from instride.snapshot.arena import Arena
from tests.unit.snapshot.pretended import SECOND
from tests.unit.snapshot.saves import ROOMS, Saves, elsewhere
from tests.unit.snapshot.simulated import Gpus
from tests.unit.snapshot.streams import Stream, Streams

pytestmark = [
    pytest.mark.torch,
    pytest.mark.parametrize("gpus", ["as late as possible"], indirect=True),
    pytest.mark.parametrize("locked", ["all of it is", "the ring is"]),
    pytest.mark.parametrize("room", ROOMS),
]


def test_a_device_that_nobody_saves_from_is_not_used(
    room: str, locked: str, gpus: Gpus, arena: Arena
) -> None:
    """It is the current one of each thread that begins."""
    with closing(Saves(gpus, arena, SECOND)) as saves:
        saves.lock(locked)
        saves.gather()
        saves.find_room(room)
        for number in (1, 2):
            saves.write(number)
            saves.copy.begin()
            saves.copy.copy(saves.promise)
            saves.copy.drain()
            assert saves.torn_in_the_end(number) == []
    assert gpus.in_use == {SECOND}


def test_whoever_waits_for_a_copy_lets_others_capture(
    room: str, locked: str, saves: Saves, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of the threads has to say so for itself."""
    at_work: set[threading.Thread] = set()
    have_said: set[threading.Thread] = set()
    on_stream = Streams.on_stream

    @contextmanager
    def note(streams: Streams, stream: Stream) -> Iterator[None]:
        at_work.add(threading.current_thread())
        with on_stream(streams, stream):
            yield

    runtime = SimpleNamespace(
        cudaThreadExchangeStreamCaptureMode=lambda mode: have_said.add(threading.current_thread()),
        cudaGetLastError=lambda: 0,
    )
    monkeypatch.setattr("instride.snapshot.runtime._runtime", lambda: runtime)
    monkeypatch.setattr(torch.cuda, "stream", partial(note, saves.gpus))
    elsewhere(partial(saves.lock, locked))
    saves.find_room(room)
    saves.take(1, saves.promise)
    with saves.draining():
        pass
    at_work.discard(threading.current_thread())  # that is who trains
    assert len(at_work) > 1
    assert at_work <= have_said
