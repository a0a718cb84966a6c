"""When the allocator would end the process if memory was given back, as far as it can be told."""

from __future__ import annotations

import threading
from itertools import cycle

import pytest
import torch

from instride.snapshot import pools
from tests.unit.snapshot.pretended import FIRST, SECOND
from tests.unit.snapshot.simulated import Gpus
from tests.unit.snapshot.streams import Stream

pytestmark = pytest.mark.torch


@pytest.mark.parametrize("is_capturing", [False, True])
def test_whoever_captures_is_seen_by_what_the_allocator_puts_off(
    is_capturing: bool, gpus: Gpus
) -> None:
    gpus.holds_up = is_capturing
    for device in (FIRST, SECOND):
        assert pools.is_held_up(device) == is_capturing
    gpus.holds_up = False
    assert not pools.is_held_up(FIRST)


def test_a_thread_that_captures_itself_does_nothing_for_that(
    gpus: Gpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
    monkeypatch.setattr(torch, "empty", lambda *_, **__: pytest.fail("of the graph's memory"))
    assert pools.is_held_up(FIRST)


def test_on_whatever_stream_it_is_asked(gpus: Gpus, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory that the stream was seen to use which it is of would be free at once. There are only
    so many streams: who asks for one may be given the current one."""
    streams = [gpus.new_stream(FIRST) for _ in range(3)]
    for stream in streams:
        in_turn = cycle(streams)
        monkeypatch.setattr(torch.cuda, "Stream", lambda device, it=in_turn: next(it))
        with gpus.on_stream(stream):
            gpus.holds_up = True
            assert pools.is_held_up(FIRST)
            gpus.holds_up = False
            assert not pools.is_held_up(FIRST)


def test_it_is_told_of_a_gpu_that_has_failed_before_anything_is_freed(
    gpus: Gpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(stream: Stream) -> bool:
        raise RuntimeError("CUDA error: device-side assert triggered")

    monkeypatch.setattr(Stream, "query", refuse)
    with pytest.raises(RuntimeError, match="device-side assert"):
        pools.is_held_up(FIRST)


def test_others_may_go_on_capturing(gpus: Gpus, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks a stream, or waits for it, ends that otherwise."""
    allowed = threading.local()
    allowed.depth = 0

    class Letting:
        def __enter__(self) -> None:
            allowed.depth += 1

        def __exit__(self, *_: object) -> None:
            allowed.depth -= 1

    def noted(stream: Stream) -> bool:
        assert allowed.depth
        return True

    monkeypatch.setattr(pools, "letting_others_capture", Letting)
    monkeypatch.setattr(Stream, "query", noted)
    monkeypatch.setattr(Stream, "synchronize", noted)
    assert not pools.is_held_up(FIRST)
