"""When the allocator would end the process if memory was given back, as far as it can be told."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator
from itertools import cycle

import pytest
import torch

from instride.snapshot import pools
from tests.unit.snapshot.pretended import FIRST, SECOND
from tests.unit.snapshot.simulated import Gpus
from tests.unit.snapshot.streams import Stream

pytestmark = pytest.mark.torch


def kept_on(device: torch.device) -> pools.Kept:
    return pools.new(1, device, torch.cuda.current_stream(device))


@pytest.fixture(autouse=True)
def no_streams_of_before(gpus: Gpus) -> Iterator[None]:
    """Each test has others."""
    pools._hardly_used.cache_clear()
    yield
    pools._hardly_used.cache_clear()


@pytest.fixture
def left(gpus: Gpus, monkeypatch: pytest.MonkeyPatch) -> list[pools.Kept]:
    """What is left behind."""
    left: list[pools.Kept] = []
    monkeypatch.setattr(pools, "left_behind", left)
    return left


@pytest.mark.parametrize("is_capturing", [False, True])
def test_whoever_captures_is_seen_by_what_the_allocator_puts_off(
    is_capturing: bool, gpus: Gpus
) -> None:
    gpus.holds_up = is_capturing
    for device in (FIRST, SECOND):
        with torch.cuda.device(device):
            assert pools.is_held_up(kept_on(device)) == is_capturing
    gpus.holds_up = False
    assert not pools.is_held_up(kept_on(FIRST))


def test_a_thread_that_captures_itself_does_nothing_for_that(
    gpus: Gpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
    monkeypatch.setattr(torch, "empty", lambda *_, **__: pytest.fail("of the graph's memory"))
    assert pools.is_held_up(kept_on(FIRST))


def test_on_whatever_stream_it_is_asked(gpus: Gpus, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory that the stream was seen to use which it is of would be free at once. There are only
    so many streams: who asks for one may be given the current one."""
    streams = [gpus.new_stream(FIRST) for _ in range(3)]
    for stream in streams:
        in_turn = cycle(streams)
        monkeypatch.setattr(torch.cuda, "Stream", lambda *_, it=in_turn, **__: next(it))
        pools._hardly_used.cache_clear()
        with gpus.on_stream(stream):
            gpus.holds_up = True
            assert pools.is_held_up(kept_on(FIRST))
            gpus.holds_up = False
            assert not pools.is_held_up(kept_on(FIRST))


def test_what_is_held_up_is_given_back_later(gpus: Gpus, left: list[pools.Kept]) -> None:
    for is_held_up, num_left in ((True, 1), (True, 1), (False, 0)):
        gpus.holds_up = is_held_up
        several = [] if left else [kept_on(SECOND)]
        several += [left.pop() for _ in list(left)]
        pools.give_back(several)
        assert (len(several), len(left)) == (0, num_left)


def test_a_capture_that_begins_while_training_is_waited_for_is_seen(
    gpus: Gpus, left: list[pools.Kept], monkeypatch: pytest.MonkeyPatch
) -> None:
    synchronize = Stream.synchronize

    def wait(stream: Stream) -> None:
        synchronize(stream)
        gpus.holds_up |= stream.computes

    monkeypatch.setattr(Stream, "synchronize", wait)
    pools.give_back([kept_on(FIRST)])
    assert len(left) == 1


@pytest.mark.parametrize(
    ("error", "num_left"),
    [
        (RuntimeError("CUDA error: device-side assert triggered"), 0),
        (RuntimeError("CUDA error: operation not permitted when stream is capturing"), 1),
        (RuntimeError("CUDA error: out of memory"), 1),
        (torch.OutOfMemoryError("CUDA out of memory"), 1),
    ],
    ids=["failed", "captured", "full", "full of other allocators"],
)
def test_what_is_not_possible_now_is_told_from_what_never_will_be(
    error: RuntimeError, num_left: int, left: list[pools.Kept], monkeypatch: pytest.MonkeyPatch
) -> None:
    never: list[object] = []

    def refuse(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(pools, "never_free", never.append)
    kept = kept_on(FIRST)
    pool = kept.pool
    with monkeypatch.context() as failing:
        if isinstance(error, torch.OutOfMemoryError):
            failing.setattr(torch, "empty", refuse)
        else:
            failing.setattr(Stream, "query", refuse)
            failing.setattr(torch, "empty", lambda *_, **__: pytest.fail("to be freed again"))
        pools.give_back([kept])
    assert len(left) == num_left
    assert never == ([] if num_left else [pool])


def test_what_comes_in_between_loses_nothing(
    left: list[pools.Kept], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a second Ctrl-C does."""

    def interrupt(stream: Stream) -> bool:
        raise KeyboardInterrupt

    several = [kept_on(FIRST), kept_on(FIRST)]
    everything = list(several)
    with monkeypatch.context() as interrupting:
        interrupting.setattr(Stream, "query", interrupt)
        with pytest.raises(KeyboardInterrupt) as interrupted:
            pools.give_back(several)
    assert sorted((*several, *left)) == sorted(everything)
    ended = [weakref.ref(each.pool) for each in everything]
    pools.give_back(left)
    assert left == []
    assert [pool() for pool in ended] == [None, None], "whoever was interrupted holds none"
    del interrupted


def test_others_may_go_on_capturing(
    left: list[pools.Kept], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who asks a stream, waits for it or frees memory ends that otherwise."""
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

    ended: list[int] = []
    kept = kept_on(FIRST)
    monkeypatch.setattr(
        type(kept.pool), "__del__", lambda _: ended.append(allowed.depth), raising=False
    )
    several = [kept]
    monkeypatch.setattr(pools, "letting_others_capture", Letting)
    monkeypatch.setattr(Stream, "query", noted)
    monkeypatch.setattr(Stream, "synchronize", noted)
    pools.give_back(several)
    assert ended == [1]
    assert left == []
