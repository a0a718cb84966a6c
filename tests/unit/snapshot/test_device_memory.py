"""Memory of a device for a snapshot: when it is kept, and when and by whom it is given back."""

from __future__ import annotations

import gc
import inspect
import threading
from collections.abc import Callable
from contextlib import nullcontext
from typing import ClassVar

import pytest
import torch

from instride.snapshot import device_memory, pools
from instride.snapshot.device_memory import SCARCE_PART, DeviceMemory
from instride.snapshot.pools import SETTINGS

pytestmark = pytest.mark.torch

CAN_DO_WITHOUT = "include_traces" in inspect.signature(torch.cuda.memory_snapshot).parameters
MIB, GIB = 1 << 20, 1 << 30


class Stream:
    """Has nothing to do, and is another one by another name."""

    def __init__(self, name: object = "", priority: int = 0) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)

    def synchronize(self) -> None:
        pass


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
    left_behind: list[pools.Kept] = []
    monkeypatch.setattr(device_memory, "left_behind", left_behind)
    monkeypatch.setattr(pools, "left_behind", left_behind)
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    for name, stand_in in {
        "get_allocator_backend": lambda: "native",
        "mem_get_info": lambda device: (50 * GIB, 140 * GIB),
        "memory_stats_as_nested_dict": lambda device: {},
        "get_per_process_memory_fraction": lambda device: 1.0,
        "memory_snapshot": lambda id, **_: [],
        "Stream": Stream,
        "is_current_stream_capturing": lambda: False,
        "current_stream": lambda device: Stream("that of training"),
        "MemPool": Pool,
        "device": nullcontext,
        "use_mem_pool": nullcontext,
    }.items():
        monkeypatch.setattr(torch.cuda, name, stand_in)
    monkeypatch.setattr(pools, "is_held_up", lambda kept: False)
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
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: Stream("another one"))
    assert memory.take(MIB, 4) is not None
    assert len(Pool.given_back) == 1
    assert memory.take_kept(4 * MIB) is not None


def test_what_was_ours_at_the_peak_is_counted_before_it_is_given_up(
    memory: DeviceMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    for peak_bytes, num_blocks in ((40 * GIB, 4), (40 * GIB + 4 * MIB, 5)):
        counted = {"reserved_bytes": {"all": {"current": 0, "peak": peak_bytes}}}
        monkeypatch.setattr(torch.cuda, "memory_stats_as_nested_dict", lambda _, it=counted: it)
        assert memory.take(MIB, num_blocks) is not None
    assert memory._note_peak() == 40 * GIB


def test_what_is_taken_is_kept_for_the_next_save_where_there_is_plenty(
    memory: DeviceMemory,
) -> None:
    settled(memory)
    memory.give_way()
    assert memory.take_kept(4 * MIB) is not None
    assert Pool.given_back == []


def test_what_is_of_another_size_is_given_back_before_it_is_asked_for_room(
    memory: DeviceMemory,
) -> None:
    settled(memory)
    assert memory.take_kept(5 * MIB) is None
    assert Pool.given_back == ["MainThread"]


def test_what_was_lent_and_not_returned_is_given_back_by_the_next_save(
    memory: DeviceMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise torch.OutOfMemoryError

    settled(memory)
    monkeypatch.setattr(torch, "empty", refuse)
    assert memory.take_kept(4 * MIB) is None
    assert Pool.given_back == []
    assert memory.take_kept(4 * MIB) is None
    assert Pool.given_back == ["MainThread"]


def test_what_is_lent_is_given_back_once_it_is_not_any_more(
    memory: DeviceMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a pool that has ended, what is lent would be an error of the allocator's own."""
    settled(memory)
    lent = [{"active_size": MIB}]
    monkeypatch.setattr(torch.cuda, "memory_snapshot", lambda id, **_: lent)
    for num_bytes in (4 * MIB, 5 * MIB):
        assert memory.take_kept(num_bytes) is None
    memory.close()
    assert Pool.given_back == []
    lent.clear()
    DeviceMemory(torch.device("cpu")).take_kept(1)
    assert Pool.given_back == ["MainThread"]


def test_where_the_gpu_has_failed_for_good_nothing_is_given_back(
    memory: DeviceMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The allocator would end the process, before training can tell what has happened."""

    def refuse(stream: Stream) -> None:
        raise RuntimeError("CUDA error: device-side assert triggered")

    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (17 * GIB, 140 * GIB))
    settled(memory)
    monkeypatch.setattr(Stream, "synchronize", refuse)
    memory.give_way()
    memory.close()
    gc.collect()
    assert Pool.given_back == []


def test_what_is_left_at_the_end_goes_with_the_process(memory: DeviceMemory) -> None:
    """Nobody knows in which state training has left the GPU by then."""
    other = DeviceMemory(torch.device("cpu"))
    settled(other)
    settled(memory)
    in_another_thread(memory.close)
    pools._leave_to_the_driver()
    pools.left_behind.clear()
    del memory, other
    gc.collect()
    assert Pool.given_back == []


def test_what_cannot_be_given_back_is_used_again_and_no_more_is_taken(
    memory: DeviceMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As behind a capture that has failed: for good, and by whatever saver comes next."""
    settled(memory)
    monkeypatch.setattr(pools, "is_held_up", lambda kept: True)
    for _ in range(3):
        memory.close()
        memory = DeviceMemory(torch.device("cpu"))
        assert memory.take(MIB, 5) is None
        settled(memory)
    assert Pool.given_back == []
    assert pools.left_behind == []
    monkeypatch.setattr(pools, "is_held_up", lambda kept: False)
    memory.close()
    assert Pool.given_back == ["MainThread"]


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize(
    ("setting", "is_given_back"),
    [
        ("expandable_segments:True", True),
        ("garbage_collection_threshold:0.8, expandable_segments : true", True),
        ("max_split_size_mb:512", True),
        ("expandable_segments:False", False),
        ("backend:native", False),
        ("", False),
    ],
)
def test_what_the_allocator_is_set_not_to_lend_is_not_kept(
    setting: str, name: str, is_given_back: bool, memory: DeviceMemory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """It passes over what is of another kind, or much larger than what is asked for."""
    monkeypatch.setenv(name, setting)
    other = DeviceMemory(torch.device("cpu"))
    settled(other)
    other.give_way()
    assert bool(Pool.given_back) is is_given_back


def test_the_history_of_all_allocations_is_not_asked_for(
    memory: DeviceMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it is recorded it is long."""
    asked: list[object] = []

    def parts_of(id: object, **options: object) -> list[object]:
        asked.append(options)
        return []

    monkeypatch.setattr(torch.cuda, "memory_snapshot", parts_of)
    settled(memory)
    assert memory.take_kept(4 * MIB) is not None
    assert asked
    assert all(each == ({"include_traces": False} if CAN_DO_WITHOUT else {}) for each in asked)


def test_what_may_be_missed_is_not_given_back_while_it_is_in_use_again(
    memory: DeviceMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (17 * GIB, 140 * GIB))
    settled(memory)
    assert memory.take_kept(4 * MIB) is not None
    memory.give_way()
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


@pytest.mark.parametrize("why", ["an old torch", "no cache"])
def test_where_pools_cannot_be_looked_into_or_are_none_nothing_is_taken(
    why: str, memory: DeviceMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    if why == "an old torch":
        monkeypatch.setattr(device_memory, "CAN_LOOK", False)
    else:
        monkeypatch.setenv("PYTORCH_NO_CUDA_MEMORY_CACHING", "1")
    assert DeviceMemory(torch.device("cpu")).take(MIB, 4) is None
    assert memory.take(MIB, 4) is not None


def test_whoever_settles_is_not_the_last_one_who_has_what_is_given_back_meanwhile(
    memory: DeviceMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread that trains may do so the moment it may, and capture a graph a moment later."""

    class Hasty(DeviceMemory):
        def __setattr__(self, name: str, value: object) -> None:
            super().__setattr__(name, value)
            if name == "_is_surplus" and value:
                self.give_way()
                assert Pool.given_back == ["MainThread"]

    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda device: (17 * GIB, 140 * GIB))
    hasty = Hasty(torch.device("cpu"))
    assert hasty.take(MIB, 4) is not None
    hasty.settle()
    assert Pool.given_back == ["MainThread"]


@pytest.mark.parametrize("is_left_behind", [False, True])
def test_a_child_gives_nothing_back(is_left_behind: bool, memory: DeviceMemory) -> None:
    settled(memory)
    if is_left_behind:
        in_another_thread(memory.close)
    memory.close_in_child()
    memory.close()
    DeviceMemory(torch.device("cpu")).take_kept(1)
    assert Pool.given_back == []
