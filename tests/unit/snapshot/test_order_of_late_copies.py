"""What is copied after the call is as it was at the call, or the save fails: by the streams of
simulated GPUs."""

from __future__ import annotations

import threading
from functools import partial
from typing import Any

import pytest
import torch

from instride.snapshot.crossing import Crossing
from instride.snapshot.late import ChangedError, LateCopy
from tests.unit.snapshot.pretended import FIRST
from tests.unit.snapshot.saves import (
    LOCKED,
    Saves,
    drain_once_it_waits,
    elsewhere,
    while_it_crosses,
)
from tests.unit.snapshot.streams import Event

pytestmark = pytest.mark.torch


@pytest.mark.parametrize("locked", LOCKED)
@pytest.mark.parametrize("is_counted", [True, False], ids=["counted", "not counted"])
def test_an_optimizer_waits_for_the_copy(is_counted: bool, locked: str, saves: Saves) -> None:
    saves.lock(locked)
    saves.find_room("no room")
    saves.take(1, saves.promise)
    assert saves.copy.is_late
    with saves.draining():
        saves.fence()
        saves.write(1001, is_counted=is_counted)
    assert saves.torn(1) == []
    assert saves.torn_in_the_end(1) == []
    assert not saves.copy.is_late


def test_an_optimizer_that_comes_before_the_copy_waits_for_it(
    late: Saves, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (1, 2):
        late.take(number, late.promise)
        write = partial(late.write, number + 1000, is_counted=False)
        drain_once_it_waits(late, write, monkeypatch)
        assert late.torn_in_the_end(number) == []


def test_an_optimizer_goes_on_only_once_there_is_something_to_wait_for(saves: Saves) -> None:
    class Watched(threading.Event):
        def set(self) -> None:
            has_end.append(late._end is not None and bool(late._end.recorded))
            super().set()

    saves.lock()
    saves.find_room("no room")
    saves.take(1, saves.promise)
    late = saves.copy._devices[0]._late
    late._is_issued = Watched()
    has_end: list[bool] = []
    saves.copy.drain()
    assert set(has_end) == {True}


def test_what_was_not_promised_may_be_written_to_at_once(late: Saves) -> None:
    theirs = late.tensors[1::2]

    def promise() -> dict[int, list[torch.Tensor]]:
        return {
            each.data_ptr(): [each] for each in late.tensors if all(each is not it for it in theirs)
        }

    late.take(1, promise)
    for tensor in theirs:
        late.gpus.write(tensor, 1001)
    with late.draining():
        late.fence()
        late.write(2001)
    assert late.torn_in_the_end(1) == []


def test_an_optimizer_that_comes_when_all_is_over_waits_for_nothing(late: Saves) -> None:
    late.take(1, late.promise)
    late.copy.drain()
    before = late.gpus.current_stream().last
    late.fence()
    assert late.gpus.current_stream().last is before
    late.write(1001)
    assert late.torn_in_the_end(1) == []


def test_an_optimizer_does_not_wait_for_what_found_room(
    saves: Saves, monkeypatch: pytest.MonkeyPatch
) -> None:
    late: list[bool] = []
    copy = Crossing.copy

    def note_and_copy(*given: Any) -> None:
        late.append(saves.copy.is_late)
        copy(*given)

    monkeypatch.setattr(Crossing, "copy", note_and_copy)
    saves.lock()
    saves.find_room("room for a part")
    saves.take(1, saves.promise)
    assert saves.copy.is_late
    saves.copy.drain()
    assert late == [False]


def test_what_somebody_else_writes_before_it_is_copied_fails_the_save(late: Saves) -> None:
    late.take(1, late.promise)
    late.gpus.write(late.tensors[2], 1001)
    with pytest.raises(ChangedError):
        late.copy.drain()


def test_what_somebody_else_writes_while_it_is_copied_fails_the_save(
    late: Saves, monkeypatch: pytest.MonkeyPatch
) -> None:
    late.take(1, late.promise)
    while_it_crosses(monkeypatch, lambda: late.gpus.write(late.tensors[2], 1001))
    with pytest.raises(ChangedError):
        late.copy.drain()


def test_an_optimizer_does_not_hide_what_somebody_else_wrote(
    late: Saves, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_and_step() -> None:
        late.gpus.write(late.tensors[2], 1001)
        late.copy.fence()
        late.write(2001)

    late.take(1, late.promise)
    while_it_crosses(monkeypatch, write_and_step)
    with pytest.raises(ChangedError):
        late.copy.drain()


def test_several_optimizers_are_not_taken_for_somebody_else(
    late: Saves, monkeypatch: pytest.MonkeyPatch
) -> None:
    def step() -> None:
        for theirs in (late.tensors[::2], late.tensors[1::2]):
            late.copy.fence()
            for tensor in theirs:
                late.gpus.write(tensor, 1001)

    late.take(1, late.promise)
    while_it_crosses(monkeypatch, step)
    late.copy.drain()
    assert late.torn_in_the_end(1) == []


def test_an_optimizer_hides_nothing_of_the_save_that_follows(
    late: Saves, monkeypatch: pytest.MonkeyPatch
) -> None:
    late.take(1, late.promise)
    drain_once_it_waits(late, lambda: late.write(1001), monkeypatch)
    late.take(2, late.promise)
    late.gpus.write(late.tensors[2], 1002)
    with pytest.raises(ChangedError):
        late.copy.drain()


def test_an_optimizer_that_comes_while_it_is_looked_for_changes_is_not_taken_for_somebody_else(
    late: Saves, monkeypatch: pytest.MonkeyPatch
) -> None:
    def step() -> None:
        late.copy.fence()
        late.write(1001)

    now, steps = LateCopy._now, [step]

    def step_meanwhile(copy: LateCopy) -> object:
        if copy._is_issued.is_set() and steps:
            elsewhere(steps.pop())
        return now(copy)

    late.take(1, late.promise)
    monkeypatch.setattr(LateCopy, "_now", step_meanwhile)
    late.copy.drain()
    assert steps == []
    assert late.torn_in_the_end(1) == []


def test_after_that_nothing_is_late_any_more(late: Saves) -> None:
    late.take(1, late.promise)
    late.gpus.write(late.tensors[2], 1001)
    with pytest.raises(ChangedError):
        late.copy.drain()
    late.take(2, late.promise)
    assert not late.copy.is_late
    late.copy.drain()
    assert late.torn_in_the_end(2) == []


def fails(*_: object, **__: object) -> None:
    raise RuntimeError("CUDA error: unspecified launch failure")


@pytest.mark.parametrize("locked", LOCKED[1:4:2])
@pytest.mark.parametrize("where", [(torch, "_foreach_copy_"), (Event, "synchronize")])
def test_a_copy_that_fails_keeps_no_optimizer_waiting(
    where: tuple[Any, str], locked: str, saves: Saves, monkeypatch: pytest.MonkeyPatch
) -> None:
    saves.lock(locked)
    saves.find_room("no room")
    saves.take(1, saves.promise)
    with monkeypatch.context() as broken:
        broken.setattr(*where, fails)
        with pytest.raises(RuntimeError, match="launch failure"), saves.draining():
            saves.fence()
    assert not saves.copy.is_late
    saves.take(2, saves.promise)
    saves.copy.drain()
    assert saves.torn_in_the_end(2) == []
    assert saves.arenas.of(FIRST).may_be_late
