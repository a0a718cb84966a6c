"""Tensors that are others at each save, as what goes along with one often is: the rest of the
snapshot is begun ahead all the same, and what is left of the former ones is nobody's."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextlib import suppress

import pytest
import torch

from instride.snapshot.cuda import DeviceCopy
from instride.snapshot.gathering import Moves
from instride.snapshot.planning import Plan
from tests.unit.snapshot.allocating import Pool
from tests.unit.snapshot.pretended import FIRST
from tests.unit.snapshot.saves import LOCKED, ROOMS, SIZES, Saves, nothing_promised
from tests.unit.snapshot.streams import Event

pytestmark = pytest.mark.torch

WHICH = {"the smallest": [0], "some": [1, 3], "all": list(range(len(SIZES)))}


def replace(saves: Saves, which: list[int]) -> None:
    for nth in which:
        before = saves.tensors[nth].as_subclass(torch.Tensor)
        saves.tensors[nth] = torch.empty_like(before).to(FIRST)


def save(saves: Saves, number: int, which: list[int], *, is_promised: bool = False) -> None:
    """With others, and right behind it the next step, if an optimizer may."""
    replace(saves, which)
    saves.write(number)
    if number > 1:
        saves.copy.begin()
    saves.plan_again()
    saves.copy.copy(saves.promise if is_promised else nothing_promised)
    if not saves.copy.is_late:
        saves.write(number + 1000)


@pytest.mark.parametrize("which", WHICH.values(), ids=WHICH)
@pytest.mark.parametrize("is_promised", [False, True])
@pytest.mark.parametrize("locked", LOCKED)
@pytest.mark.parametrize("room", ROOMS)
def test_each_save_holds_those_that_there_are(
    room: str, locked: str, is_promised: bool, which: list[int], saves: Saves
) -> None:
    saves.lock(locked)
    saves.gather()
    saves.find_room(room)
    first = saves.copy
    for number in range(1, 5):
        save(saves, number, which, is_promised=is_promised)
        saves.copy.drain()
        assert saves.torn_in_the_end(number) == []
    assert saves.copy is first


def test_memory_of_others_that_is_let_go_of_behind_the_call_is_copied_first(saves: Saves) -> None:
    """Also where it was asked for on another stream, on which it is somebody else's at once."""
    owner = saves.gpus.new_stream(FIRST)
    saves.lock("the ring is")
    saves.gather()
    save(saves, 1, [])
    saves.copy.drain()
    with saves.gpus.on_stream(owner):
        replace(saves, [1])
    saves.write(2)
    saves.gpus.synchronize()
    saves.copy.begin()
    saves.plan_again()
    saves.copy.copy(nothing_promised)
    with saves.gpus.on_stream(owner):
        saves.gpus.resize(saves.tensors[1], 0)
    saves.copy.drain()
    assert saves.torn_in_the_end(2) == []


@pytest.mark.parametrize("gpus", ["as late as possible"], indirect=True)
def test_memory_for_a_snapshot_is_asked_for_once(
    saves: Saves, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Pool] = []

    def new_pool(use_on_oom: bool = False) -> Pool:
        made.append(saves.gpus.new_pool(use_on_oom))
        return made[-1]

    monkeypatch.setattr(torch.cuda, "MemPool", new_pool)
    saves.lock("the ring is")
    saves.gather()
    for number in range(1, 5):
        save(saves, number, [0])
        saves.copy.drain()
    assert len(made) == 1


def test_where_many_are_others_all_is_begun_anew(
    saves: Saves, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("instride.snapshot.copying.MOST_FOLLOWED", 1)
    saves.lock("the ring is")
    saves.gather()
    for number in range(1, 4):
        before = weakref.ref(saves.copy)
        save(saves, number, [0, 2])
        assert before() is None
        saves.copy.drain()
        assert saves.torn_in_the_end(number) == []


def test_what_was_let_go_of_is_not_followed(saves: Saves) -> None:
    """There is nothing in its place until the next save."""
    saves.lock("the ring is")
    save(saves, 1, [])
    saves.copy.drain()
    assert not saves.copy.follow(saves.plan.let_go(of_all=True))


@pytest.mark.parametrize("room", ["no room", "room for a part"])
def test_a_table_that_is_still_to_be_changed_is_nobody_elses_when_a_save_is_refused(
    room: str, saves: Saves
) -> None:
    """Between following and copying, as what may not be saved is."""

    def replace_at_once() -> None:
        num_values = saves.tensors[1].numel()
        saves.tensors[1] = torch.empty(num_values, dtype=torch.float32, device=FIRST)

    saves.lock("the ring is")
    saves.gather()
    saves.find_room(room)
    save(saves, 1, [])
    saves.copy.drain()
    replace_at_once()
    saves.plan_again()
    saves.copy.drain()
    former = list(saves.tensors)
    replace_at_once()
    del saves.copy
    saves.plan = Plan(saves.all_tensors, detached=True)
    saves.find_room("room for all")
    save(saves, 3, [])
    saves.copy.drain()
    assert saves.torn_in_the_end(3) == []
    del former


def without_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Moves, "change", lambda moves, number, address: None)


def without_copying_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def bring_along(copy: DeviceCopy, row: int, number: int, share: object) -> None:
        assert copy._moves is not None
        copy._moves.change(row, share.bytes.data_ptr())  # type: ignore[attr-defined]

    monkeypatch.setattr(DeviceCopy, "_bring_along", bring_along)


def without_waiting_for_that(monkeypatch: pytest.MonkeyPatch) -> None:
    """From the time on when it is begun."""
    follow = DeviceCopy.follow

    def follow_unseen(copy: DeviceCopy, others: dict[int, torch.Tensor]) -> None:
        with monkeypatch.context() as patching:
            patching.setattr(Event, "record", lambda event: None)
            follow(copy, others)

    monkeypatch.setattr(DeviceCopy, "follow", follow_unseen)


@pytest.mark.parametrize("gpus", ["training last"], indirect=True)
@pytest.mark.parametrize(
    "take_away", [without_the_table, without_copying_again, without_waiting_for_that]
)
def test_whoever_leaves_out_a_part_of_following_tears(
    take_away: Callable[[pytest.MonkeyPatch], None], saves: Saves, monkeypatch: pytest.MonkeyPatch
) -> None:
    saves.lock("the ring is")
    saves.gather()
    save(saves, 1, [])
    saves.copy.drain()
    take_away(monkeypatch)
    torn = []
    with suppress(RuntimeError):  # an address that is nobody's by now
        for number, which in ((2, [1]), (3, [])):
            save(saves, number, which)
            saves.copy.drain()
            torn += saves.torn_in_the_end(number)
        assert torn
