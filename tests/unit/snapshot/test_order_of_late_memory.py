"""Memory of simulated GPUs that is copied late, and emptied before: what it held is saved, or the
save fails."""

from __future__ import annotations

import weakref
from contextlib import closing
from typing import Any

import pytest
import torch

from instride.snapshot.arena import Arena
from instride.snapshot.crossing import Crossing
from instride.snapshot.late import ChangedError, Storages
from tests.unit.snapshot.pretended import FIRST
from tests.unit.snapshot.saves import Saves, of_another_stream, while_it_crosses
from tests.unit.snapshot.simulated import Gpus

pytestmark = pytest.mark.torch


def test_late_memory_that_is_let_go_of_behind_an_optimizer_is_copied_first(
    gpus: Gpus, arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the optimizer steps on another stream than was current at the call."""
    with (
        gpus.on_stream(gpus.new_stream(FIRST)),
        closing(of_another_stream(gpus, arena)) as saves,
    ):
        saves.lock()
        saves.find_room("no room")
        saves.copy.copy(saves.promise)
        assert saves.copy.is_late

        def step_and_let_go() -> None:
            saves.copy.fence()
            for tensor in saves.tensors:
                gpus.resize(tensor, 0)

        while_it_crosses(monkeypatch, step_and_let_go)
        saves.copy.drain()
        assert saves.torn_in_the_end(1) == []


def test_late_memory_that_is_other_at_its_old_place_is_copied_before_it_is_let_go_of(
    gpus: Gpus, arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was said of the memory that was there at the save before does not count for it."""
    owner = gpus.new_stream(FIRST)

    def resize(num_bytes: int | None = None) -> None:
        with gpus.on_stream(owner):
            for tensor, size in zip(saves.tensors, sizes, strict=True):
                gpus.resize(tensor, size if num_bytes is None else num_bytes)

    with (
        gpus.on_stream(gpus.new_stream(FIRST)),
        closing(of_another_stream(gpus, arena)) as saves,
    ):
        sizes = [tensor.nbytes for tensor in saves.tensors]
        for _ in range(2):  # from now on they are the owner's
            gpus.synchronize()
            resize(0)
            resize()
        saves.lock()
        saves.find_room("no room")
        saves.take(1, saves.promise)
        saves.copy.drain()
        gpus.synchronize()
        places = [tensor.data_ptr() for tensor in saves.tensors]
        resize(0)
        resize()
        assert [tensor.data_ptr() for tensor in saves.tensors] == places
        saves.write(2)
        saves.copy.copy(saves.promise)

        def step_and_let_go() -> None:
            saves.copy.fence()
            resize(0)

        while_it_crosses(monkeypatch, step_and_let_go)
        saves.copy.drain()
        assert saves.torn_in_the_end(2) == []


@pytest.mark.parametrize("is_queued", [True, False], ids=["before it is queued", "while it is"])
def test_memory_that_is_let_go_of_before_it_is_copied_fails_the_save(
    is_queued: bool, late: Saves, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The driver refuses to copy from it, and that is not what anybody wants to be told."""
    copy = Crossing.copy_awaited

    def let_go_and_copy(*given: Any) -> None:
        for tensor in late.tensors:
            late.gpus.resize(tensor, 0)
        copy(*given)

    late.take(1, late.promise)
    monkeypatch.setattr(Crossing, "copy_awaited", let_go_and_copy)
    if is_queued:
        late.gpus.resize(late.tensors[2], 0)
    with pytest.raises(ChangedError):
        late.copy.drain()


def empty_and_fill(saves: Saves) -> None:
    """And torch counts nothing of that."""
    for tensor in saves.tensors:
        num_bytes = tensor.nbytes
        saves.gpus.resize(tensor, 0)
        saves.gpus.resize(tensor, num_bytes)
    for tensor in saves.tensors:
        saves.gpus.write(tensor, 1001, is_counted=False)


def drain_right_or_refused(saves: Saves) -> None:
    try:
        saves.copy.drain()
    except ChangedError:
        return
    assert saves.torn_in_the_end(1) == []


@pytest.mark.parametrize("gpus", ["as late as possible", "training last"], indirect=True)
def test_memory_that_is_filled_again_before_it_is_copied_is_not_taken_for_what_it_was(
    late: Saves,
) -> None:
    """As long as the device has not come to the snapshot, the allocator gives it to nobody. Behind
    that, it may get its old place."""
    late.take(1, late.promise)
    empty_and_fill(late)
    drain_right_or_refused(late)


def test_memory_that_is_filled_again_while_it_is_copied_is_not_taken_for_what_it_was(
    late: Saves, monkeypatch: pytest.MonkeyPatch
) -> None:
    late.take(1, late.promise)
    while_it_crosses(monkeypatch, lambda: empty_and_fill(late))
    drain_right_or_refused(late)


def test_nothing_of_an_optimizer_is_kept_alive_once_it_is_copied(late: Saves) -> None:
    def promise() -> Storages:
        shown = [tensor.detach() for tensor in late.tensors]
        seen.extend(map(weakref.ref, shown))
        return {tensor.data_ptr(): [tensor] for tensor in shown}

    seen: list[weakref.ref[torch.Tensor]] = []
    late.take(1, promise)
    assert any(each() is not None for each in seen)
    late.copy.drain()
    assert all(each() is None for each in seen)
