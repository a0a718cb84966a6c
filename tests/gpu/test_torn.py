"""No file may hold anything but the moment of its save, whatever is queued or comes after."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import torch

import instride
from instride.errors import SaveFailedError
from tests.gpu.holding import Holder
from tests.gpu.trainings import (
    NEEDS_A_GPU,
    Adding,
    assert_same,
    busy,
    hammer,
    load,
    lock_arena,
    make,
    one_step,
    ones_to_add,
)

pytestmark = NEEDS_A_GPU

NUM_BLOWS = 12


@pytest.mark.parametrize("writer", ["the same stream", "another stream"])
def test_a_file_holds_what_was_queued_before_the_call_and_nothing_after(
    writer: str, queue: torch.Tensor, room: str, tmp_path: Path
) -> None:
    x = torch.zeros(16 << 20, device="cuda")
    odd = torch.zeros(1001, device="cuda", dtype=torch.bfloat16)
    computes = torch.cuda.current_stream()
    writes = computes if writer == "the same stream" else torch.cuda.Stream()
    with instride.Saver(tmp_path, state=Holder(x=x, odd=odd, host=torch.zeros(7))) as saver:
        for blow in range(1, NUM_BLOWS):
            writes.wait_stream(computes)
            with torch.cuda.stream(writes):
                busy(queue)
                x.fill_(blow)
                odd.fill_(blow)
            computes.wait_stream(writes)
            pending = saver.save(blow)
            writes.wait_stream(computes)
            with torch.cuda.stream(writes):
                x.fill_(-1)
                odd.fill_(-1)
            saved = load(pending.wait(60).path)
            assert bool((saved["state"]["x"] == blow).all())
            assert bool((saved["state"]["odd"] == blow).all())


@pytest.mark.parametrize("kind", ["fused", "foreach", "capturable"])
def test_training_that_goes_on_at_once_is_not_seen(kind: str, room: str, tmp_path: Path) -> None:
    model, optimizer = make(**{kind: True})
    parts = {"model": model, "optimizer": optimizer}
    with instride.Saver(tmp_path, **parts) as saver:
        assert hammer(saver, parts, lambda: one_step(model, optimizer)), "nothing was queued"


def test_tensors_that_are_others_at_each_save_are_saved_as_they_are(
    queue: torch.Tensor, room: str, tmp_path: Path
) -> None:
    """What was there at the save before is copied ahead, and must not be taken for them."""
    holder = Holder(kept=torch.zeros(8 << 20, device="cuda"))
    with instride.Saver(tmp_path, state=holder) as saver:
        for blow in range(1, NUM_BLOWS):
            busy(queue)
            holder.tensors["kept"].fill_(blow)
            holder.tensors["fresh"] = torch.full((8 << 20,), float(blow), device="cuda")
            if blow % 3 == 0:
                holder.tensors[f"more {blow}"] = torch.full((999,), float(blow), device="cuda")
            wanted = {name: tensor.clone() for name, tensor in holder.tensors.items()}
            pending = saver.save(blow)
            for tensor in holder.tensors.values():
                tensor.fill_(-1)
            assert_same(load(pending.wait(60).path)["state"], wanted)


def test_an_optimizer_waits_only_for_what_is_copied_late(no_room: None, tmp_path: Path) -> None:
    """The way without room is the late one, or the tests of it would show nothing."""
    model, optimizer = make(fused=True)
    with instride.Saver(tmp_path, model=model, optimizer=optimizer) as saver:
        one_step(model, optimizer)
        saver.save(1).wait(60)
        promised = saver._beats._promise()()
        one_step(model, optimizer)

        assert promised == []
        assert len(saver._beats._promise()()) == 4 * len(list(model.parameters()))


@pytest.mark.parametrize("num_shown", [1 << 20, 8 << 20], ids=["a part of it", "all of it"])
def test_what_shares_memory_with_a_parameter_may_be_written_to_before_the_step(
    num_shown: int, room: str, tmp_path: Path
) -> None:
    """The optimizer is not the only one that changes that memory, and torch counts other versions
    for who writes to it in this way."""
    weight = ones_to_add()
    shown = weight.data[:num_shown]
    optimizer = Adding(weight)
    parts: dict[str, Any] = {"state": Holder(weight=weight, shown=shown), "optimizer": optimizer}

    def step() -> None:
        shown.add_(0.5)
        optimizer.step()

    with instride.Saver(tmp_path, **parts) as saver:
        hammer(saver, parts, step)


def test_an_optimizer_waits_for_a_saver_that_nobody_has_any_more(
    queue: torch.Tensor, no_room: None, tmp_path: Path
) -> None:
    model, optimizer = make(fused=True)
    parts = {"model": model, "optimizer": optimizer}

    def save(number: int) -> instride.Pending:
        saver = instride.Saver(tmp_path / str(number), **parts)
        one_step(model, optimizer)
        lock_arena(saver)
        busy(queue)
        one_step(model, optimizer)
        return saver.save(1)

    for number in range(3):
        pending = save(number)
        wanted = copy.deepcopy(model.state_dict())
        one_step(model, optimizer)
        assert_same(load(pending.wait(60).path)["model"], wanted)


def test_a_save_before_training_has_shown_what_it_needs_is_whole(
    queue: torch.Tensor, tmp_path: Path
) -> None:
    """None of the device's memory is taken before a first step, nor behind it, which makes what an
    optimizer keeps: the next one needs more."""
    model, optimizer = make(fused=True)
    with instride.Saver(tmp_path, model=model, optimizer=optimizer) as saver:
        busy(queue)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.add_(1)
        wanted = copy.deepcopy(model.state_dict())
        pending = saver.save(0)
        one_step(model, optimizer)
        assert_same(load(pending.wait(60).path)["model"], wanted)
        arenas = saver._engine._stager._device_arenas  # type: ignore[attr-defined]
        assert [arena.memory._kept for arena in arenas._all()] == [None]
        saver.save(1).wait(60)
        assert [arena.memory._kept for arena in arenas._all()] == [None]
        one_step(model, optimizer)
        saver.save(2).wait(60)
        assert arenas._all()[0].memory._kept is not None


@pytest.mark.filterwarnings("ignore:instride:RuntimeWarning")
def test_what_somebody_else_writes_to_a_parameter_fails_the_save_by_name(
    queue: torch.Tensor, no_room: None, tmp_path: Path
) -> None:
    model, optimizer = make(fused=True)
    parts = {"model": model, "optimizer": optimizer}

    def clamp() -> None:
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.clamp_(-1e-3, 1e-3)

    def step() -> None:
        clamp()
        one_step(model, optimizer)

    with instride.Saver(tmp_path, **parts) as saver:
        step()  # a kernel that is used for the first time waits for the device
        lock_arena(saver)
        busy(queue)
        one_step(model, optimizer)
        pending = saver.save(0)
        clamp()
        with pytest.raises(SaveFailedError, match="something wrote to a parameter"):
            pending.wait(60)
        hammer(saver, parts, step)
