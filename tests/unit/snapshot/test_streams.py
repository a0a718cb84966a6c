"""Simulated GPUs order what CUDA orders, and nothing else."""

from __future__ import annotations

import pytest
import torch

from tests.unit.snapshot.allocating import POISON
from tests.unit.snapshot.pretended import FIRST, SECOND, Driver
from tests.unit.snapshot.simulated import Gpus, bytes_of
from tests.unit.snapshot.streams import Event, Stream

pytestmark = pytest.mark.torch


def late() -> pytest.MarkDecorator:
    return pytest.mark.parametrize("gpus", ["as late as possible"], indirect=True)


def queue(gpus: Gpus, stream: Stream, name: str, done: list[str]) -> None:
    gpus.queue(stream, lambda: done.append(name))


def test_a_stream_does_one_thing_behind_the_other(gpus: Gpus) -> None:
    done: list[str] = []
    for name in "abc":
        queue(gpus, gpus.current_stream(), name, done)
    gpus.synchronize()
    assert done == ["a", "b", "c"]


@late()
def test_whoever_waits_has_done_what_comes_before_it_and_nothing_else(gpus: Gpus) -> None:
    done: list[str] = []
    first, second, event = gpus.new_stream(), gpus.new_stream(), gpus.new_event()
    queue(gpus, first, "before", done)
    event.record(first)
    queue(gpus, first, "behind", done)
    second.wait_event(event)
    queue(gpus, second, "waits", done)
    assert done == []
    assert not event.query()
    second.synchronize()
    assert done == ["before", "waits"]
    assert event.query()


@pytest.mark.parametrize("gpus", ["training last"], indirect=True)
def test_what_waits_for_nothing_overtakes_and_what_waits_does_not(gpus: Gpus) -> None:
    done: list[str] = []
    computes, other, event = gpus.current_stream(), gpus.new_stream(), gpus.new_event()
    queue(gpus, computes, "computed", done)
    queue(gpus, other, "overtakes", done)
    event.record()
    other.wait_event(event)
    queue(gpus, other, "waits", done)
    assert done == ["overtakes"]
    event.synchronize()
    assert done == ["overtakes", "computed"]
    gpus.synchronize()
    assert done == ["overtakes", "computed", "waits"]


@late()
def test_an_event_is_waited_for_as_it_was_recorded_last(gpus: Gpus) -> None:
    done: list[str] = []
    event = gpus.new_event()
    gpus.new_stream().wait_event(event)
    event.synchronize()
    event.record()
    waits = gpus.new_stream()
    waits.wait_event(event)
    queue(gpus, gpus.current_stream(), "later", done)
    event.record()
    waits.synchronize()
    assert done == []


def test_each_device_has_a_stream_that_computes_and_each_thread_a_current_one(gpus: Gpus) -> None:
    computes = gpus.current_stream()
    other = gpus.new_stream(SECOND)
    with torch.cuda.stream(other):
        assert gpus.current_stream() is other
        assert gpus.current_stream(FIRST) is computes
        assert torch.cuda.current_device() == SECOND.index
        with torch.cuda.device(FIRST):
            assert gpus.current_stream() is computes
    assert gpus.current_stream() is computes
    assert gpus.current_stream(SECOND) is not other


@late()
def test_memory_is_written_to_in_the_order_of_streams_and_never_read_by_the_host(
    gpus: Gpus,
) -> None:
    tensor = torch.empty(8, dtype=torch.uint8, device=FIRST)
    there = torch.zeros(8, dtype=torch.uint8)
    gpus.write(tensor, 1)
    torch._foreach_copy_([there], [tensor])
    gpus.write(tensor, 2)
    assert torch.equal(there, bytes_of(1, 8))
    other = torch.empty_like(there).to(FIRST)
    torch._foreach_copy_([other], [tensor])
    gpus.write(tensor, 3)
    torch._foreach_copy_([there], [other])
    assert torch.equal(there, bytes_of(2, 8))


@late()
@pytest.mark.parametrize("is_locked", [True, False])
def test_a_copy_goes_on_behind_the_call_only_where_memory_is_locked(
    is_locked: bool, gpus: Gpus, driver: Driver
) -> None:
    tensor = torch.empty(8, dtype=torch.uint8, device=FIRST)
    there = torch.zeros(16, dtype=torch.uint8)
    gpus.write(tensor, 1)
    if is_locked:
        driver.cudaHostRegister(there.data_ptr(), 12, 0)
        with pytest.raises(RuntimeError, match="invalid argument"):
            torch._foreach_copy_([there[8:]], [tensor], non_blocking=True)
    torch._foreach_copy_([there[:8]], [tensor], non_blocking=True)
    assert torch.equal(there[:8], bytes_of(1, 8)) != is_locked
    gpus.synchronize()
    assert torch.equal(there[:8], bytes_of(1, 8))


@late()
@pytest.mark.parametrize("is_recorded", [True, False])
@pytest.mark.parametrize("is_emptied", [True, False], ids=["emptied", "dropped"])
def test_memory_is_somebody_elses_once_those_who_were_recorded_are_done_with_it(
    is_emptied: bool, is_recorded: bool, gpus: Gpus
) -> None:
    tensor = torch.empty(8, dtype=torch.uint8, device=FIRST)
    there = torch.empty_like(tensor.as_subclass(torch.Tensor)).to(FIRST)
    gpus.write(tensor, 1)
    gpus.synchronize()
    other = gpus.new_stream()
    with torch.cuda.stream(other):
        torch._foreach_copy_([there], [tensor])
    if is_recorded:
        tensor.record_stream(other)
    if is_emptied:
        gpus.resize(tensor, 0)
    del tensor
    found = torch.zeros(8, dtype=torch.uint8)
    with torch.cuda.stream(other):
        torch._foreach_copy_([found], [there])
    poison = torch.full_like(found, POISON)
    assert torch.equal(found, bytes_of(1, 8) if is_recorded else poison)


@late()
def test_memory_that_is_gone_cannot_be_copied_from(gpus: Gpus) -> None:
    tensor = torch.empty(8, dtype=torch.uint8, device=FIRST)
    gpus.resize(tensor, 0)
    with pytest.raises(RuntimeError, match="invalid argument"):
        torch._foreach_copy_([torch.zeros(8, dtype=torch.uint8)], [tensor])
    assert isinstance(torch.cuda.Event(), Event)


@late()
@pytest.mark.parametrize("is_recorded", [True, False])
def test_memory_is_given_again_to_its_stream_once_others_that_were_recorded_are_done_with_it(
    is_recorded: bool, gpus: Gpus
) -> None:
    tensor = torch.empty(8, dtype=torch.uint8, device=FIRST)
    place = tensor.data_ptr()
    other = gpus.new_stream()
    gpus.queue(other)
    if is_recorded:
        tensor.record_stream(other)
    gpus.resize(tensor, 0)
    assert tensor.data_ptr() == tensor.untyped_storage().data_ptr() == 0
    with torch.cuda.stream(other):
        assert torch.empty(8, dtype=torch.uint8, device=FIRST).data_ptr() != place
    gpus.resize(tensor, 8)
    assert (tensor.data_ptr() == place) != is_recorded
    gpus.synchronize()
    assert (torch.empty(8, dtype=torch.uint8, device=FIRST).data_ptr() == place) == is_recorded
