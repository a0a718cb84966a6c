"""How much of a device training needs at its peak, when the allocator counts ours along with it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import nullcontext
from typing import ClassVar

import pytest
import torch

from instride.snapshot.device_arena import DeviceArenas
from instride.snapshot.device_memory import (
    SCARCE_PART,
    SPARE_BYTES,
    DeviceMemory,
    TrainingPeak,
    room_bytes,
)

pytestmark = pytest.mark.torch

MIB, GIB = 1 << 20, 1 << 30
OURS = 16 * GIB


def test_what_was_ours_at_the_peak_is_not_that_of_training() -> None:
    peak = TrainingPeak()
    assert peak.note(40 * GIB, 0) == 40 * GIB  # before the first save
    assert peak.note(56 * GIB, OURS) == 40 * GIB  # its snapshot came on top
    assert peak.note(56 * GIB, 0) == 40 * GIB  # and is freed


def test_training_that_needs_more_beside_a_snapshot_needs_more_from_then_on() -> None:
    peak = TrainingPeak()
    peak.note(40 * GIB, 0)
    assert peak.note(61 * GIB, OURS) == 45 * GIB
    assert peak.note(61 * GIB, 0) == 45 * GIB


def test_training_that_needs_more_between_two_saves_is_counted_in_full() -> None:
    peak = TrainingPeak()
    peak.note(40 * GIB, 0)
    peak.note(56 * GIB, OURS)
    assert peak.note(60 * GIB, 0) == 60 * GIB


def test_a_peak_that_somebody_resets_is_remembered() -> None:
    peak = TrainingPeak()
    peak.note(40 * GIB, 0)
    assert peak.note(10 * GIB, 0) == 40 * GIB


def test_room_is_what_is_free_less_what_training_will_want_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (50 * GIB, 140 * GIB))
    counted = {"reserved_bytes": {"all": {"current": 30 * GIB, "peak": 99 * GIB}}}
    monkeypatch.setattr(torch.cuda, "memory_stats_as_nested_dict", lambda device: counted)
    parts = [1.0]
    monkeypatch.setattr(torch.cuda, "get_per_process_memory_fraction", lambda device: parts[-1])
    device = torch.device("cuda", 0)
    assert room_bytes(device, 40 * GIB) == 40 * GIB - SPARE_BYTES
    assert room_bytes(device, 20 * GIB) == 50 * GIB - SPARE_BYTES
    assert room_bytes(device, 90 * GIB) == 0
    parts.append(0.5)  # 70 GiB are allowed, 30 of them taken
    assert room_bytes(device, 40 * GIB) == 30 * GIB - SPARE_BYTES


class Pool:
    """Stands for a pool of the allocator, and tells which of them were given back."""

    given_back: ClassVar[list[str]] = []
    id = (0, 1)

    def __init__(self, use_on_oom: bool = False) -> None:
        self.is_lent = use_on_oom

    def __del__(self) -> None:
        self.given_back.append(threading.current_thread().name)


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> DeviceMemory:
    """Of a device with 140 GiB, 50 of them free; what is taken of it is memory of the host."""
    monkeypatch.setattr(Pool, "given_back", [])
    for name, stand_in in {
        "get_allocator_backend": lambda: "native",
        "mem_get_info": lambda device: (50 * GIB, 140 * GIB),
        "memory_stats_as_nested_dict": lambda device: {},
        "get_per_process_memory_fraction": lambda device: 1.0,
        "memory_snapshot": lambda id: [],
        "is_current_stream_capturing": lambda: False,
        "current_stream": lambda device: "that of training",
        "MemPool": Pool,
        "device": nullcontext,
        "use_mem_pool": nullcontext,
    }.items():
        monkeypatch.setattr(torch.cuda, name, stand_in)
    return DeviceMemory(torch.device("cpu"))


def in_another_thread(do: Callable[[], None]) -> None:
    thread = threading.Thread(target=do, name="another")
    thread.start()
    thread.join()


def settled(memory: DeviceMemory) -> None:
    assert memory.take(MIB, 4) is not None
    in_another_thread(memory.settle)


def test_what_was_taken_on_another_stream_is_given_back_first(
    memory: DeviceMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The allocator would not find it for this one, and take as much once more."""
    settled(memory)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: "another one")
    assert memory.take(MIB, 4) is not None
    assert len(Pool.given_back) == 1
    assert memory.take_kept(4 * MIB) is not None


def test_what_is_taken_is_kept_for_the_next_save_where_there_is_plenty(
    memory: DeviceMemory,
) -> None:
    settled(memory)
    memory.give_way()
    assert memory.take_kept(4 * MIB) is not None
    assert Pool.given_back == []


def test_where_memory_is_scarce_the_thread_that_trains_gives_it_back(
    memory: DeviceMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While a graph is captured it must not, and another thread cannot tell."""
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (17 * GIB, 140 * GIB))
    settled(memory)
    assert Pool.given_back == []

    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
    memory.give_way()
    assert Pool.given_back == []

    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    memory.give_way()
    assert Pool.given_back == ["MainThread"]
    assert memory.take_kept(4 * MIB) is None


def test_as_much_again_must_be_free_as_is_kept(
    memory: DeviceMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever wants more than what is kept, in one piece, cannot be lent it."""
    least = 140 * GIB // SCARCE_PART + 4 * MIB
    for free, is_given_back in ((least, False), (least - 1, True)):
        monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device, free=free: (free, 140 * GIB))
        settled(memory)
        memory.give_way()
        assert bool(Pool.given_back) == is_given_back


def test_what_training_will_want_again_is_not_free(
    memory: DeviceMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ran out beside a snapshot, which emptied its caches, and tries the same step again."""
    for now, is_given_back in ((100 * GIB, False), (60 * GIB, True)):
        reserved = {"current": now + 4 * MIB, "peak": 100 * GIB + 4 * MIB}
        counted = {"reserved_bytes": {"all": reserved}}
        monkeypatch.setattr(torch.cuda, "memory_stats_as_nested_dict", lambda _, it=counted: it)
        settled(memory)
        memory.give_way()
        assert bool(Pool.given_back) == is_given_back


def test_what_is_closed_by_another_thread_is_given_back_by_the_next_save(
    memory: DeviceMemory,
) -> None:
    settled(memory)
    in_another_thread(memory.close)
    assert Pool.given_back == []
    DeviceMemory(torch.device("cpu")).take_kept(1)
    assert Pool.given_back == ["MainThread"]


def test_what_is_closed_by_the_thread_that_took_it_is_given_back_at_once(
    memory: DeviceMemory,
) -> None:
    settled(memory)
    memory.close()
    assert Pool.given_back == ["MainThread"]


def test_before_a_step_has_shown_what_training_needs_nothing_is_taken(
    memory: DeviceMemory,
) -> None:
    memory.knows_peak = False
    assert memory.take(MIB, 4) is None
    assert memory.has_room(4 * MIB)  # for all that is known
    memory.knows_peak = True
    assert memory.take(MIB, 4) is not None


def test_other_allocators_have_no_pools_and_are_not_asked_for_any(
    memory: DeviceMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("cudaMallocAsync does not support this")

    monkeypatch.setattr(torch.cuda, "get_allocator_backend", lambda: "cudaMallocAsync")
    for name in ("MemPool", "memory_snapshot", "memory_stats_as_nested_dict"):
        monkeypatch.setattr(torch.cuda, name, refuse)
    other = DeviceMemory(torch.device("cpu"))
    assert not other.has_room(1)
    assert other.take(MIB, 4) is None
    other.settle()
    other.give_way()
    other.close()


def test_a_handler_that_saves_may_interrupt_whoever_adds_a_device() -> None:
    """It comes from the same thread, and would wait for itself."""
    arenas = DeviceArenas()
    with arenas._lock:
        arenas.give_way()
        arenas.know_peak(is_known=True)
