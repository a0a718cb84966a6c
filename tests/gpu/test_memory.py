"""Sources that are freed or resized, and memory that is locked, kept and given back."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
import torch

import instride
from instride.errors import SaveFailedError
from tests.gpu.holding import Holder
from tests.gpu.trainings import (
    NEEDS_A_GPU,
    arena_of,
    await_locking,
    busy,
    load,
    lock_arena,
    make,
    one_step,
)
from tests.soak.many_saves import usage

pytestmark = NEEDS_A_GPU

GIB = 1 << 30


def test_a_source_that_is_emptied_and_used_for_others_is_saved_as_it_was(
    queue: torch.Tensor, room: str, tmp_path: Path
) -> None:
    """As FSDP does it, with memory that belongs to another stream."""
    other = torch.cuda.Stream()
    for run in range(3):
        with torch.cuda.stream(other):
            x = torch.full((16 << 20,), -2.0, device="cuda")
        torch.cuda.current_stream().wait_stream(other)
        with instride.Saver(tmp_path / str(run), state=Holder(x=x)) as saver:
            busy(queue)
            x.fill_(run)
            pending = saver.save(1)
            x.untyped_storage().resize_(0)
            torch.cuda.empty_cache()
            with torch.cuda.stream(other):
                trash = [torch.full((16 << 20,), -1.0, device="cuda") for _ in range(4)]
            assert bool((load(pending.wait(60).path)["state"]["x"] == run).all())
            del trash


def test_a_source_that_is_emptied_between_two_saves_is_saved_as_it_is(
    queue: torch.Tensor, room: str, tmp_path: Path
) -> None:
    """Its memory of the save before may be gone: it must not even be looked at."""
    x = torch.zeros(16 << 20, device="cuda")
    num_bytes = x.untyped_storage().nbytes()
    with instride.Saver(tmp_path, state=Holder(x=x)) as saver:
        for step in range(1, 6):
            busy(queue)
            x.fill_(step)
            assert bool((load(saver.save(step).wait(60).path)["state"]["x"] == step).all())
            x.untyped_storage().resize_(0)
            torch.cuda.empty_cache()
            kept = torch.full((step << 20,), -1.0, device="cuda")  # it gets another place
            x.untyped_storage().resize_(num_bytes)
            del kept


def test_a_source_that_is_dropped_by_everybody_is_saved_as_it_was(
    queue: torch.Tensor, room: str, tmp_path: Path
) -> None:
    holder = Holder(x=torch.full((16 << 20,), -2.0, device="cuda"))
    with instride.Saver(tmp_path, state=holder) as saver:
        busy(queue)
        holder.tensors["x"].fill_(7)
        pending = saver.save(1)
        holder.tensors.clear()
        gc.collect()
        torch.cuda.empty_cache()
        trash = [torch.full((16 << 20,), -1.0, device="cuda") for _ in range(4)]
        assert bool((load(pending.wait(60).path)["state"]["x"] == 7).all())
        del trash


@pytest.mark.filterwarnings("ignore:instride:RuntimeWarning")
def test_a_parameter_that_is_emptied_before_its_optimizer_runs_is_right_or_refused(
    queue: torch.Tensor, no_room: None, tmp_path: Path
) -> None:
    model, optimizer = make(fused=True)
    weight = next(model.parameters())
    with instride.Saver(tmp_path, model=model, o=optimizer) as saver:
        one_step(model, optimizer)
        lock_arena(saver)
        busy(queue)
        one_step(model, optimizer)
        wanted = weight.detach().clone()
        pending = saver.save(1)
        weight.untyped_storage().resize_(0)
        weight.untyped_storage().resize_(wanted.numel() * 4)
        weight.data.fill_(-1)
        why = "something wrote to a parameter"  # or it was copied before that
        try:
            saved = load(pending.wait(60).path)
        except SaveFailedError as error:
            why = str(error)
        else:
            assert torch.equal(saved["model"]["0.weight"], wanted)
        assert "something wrote to a parameter" in why
        weight.data.copy_(wanted)
        saved = load(saver.save(2).wait(60).path)
        assert torch.equal(saved["model"]["0.weight"], wanted)


def test_a_tensor_that_is_new_at_each_save_takes_no_more_memory_each_time(tmp_path: Path) -> None:
    model, optimizer = make(fused=True)
    reserved: list[int] = []
    with instride.Saver(tmp_path, model=model, optimizer=optimizer) as saver:
        for step in range(8):
            one_step(model, optimizer)
            loss = torch.full((3,), float(step), device="cuda")
            saved = load(saver.save(step, extra={"loss": loss}).wait(60).path)
            assert saved["extra"]["loss"].tolist() == [step] * 3
            reserved.append(torch.cuda.memory_reserved())
    assert max(reserved[2:]) < reserved[2] + (32 << 20), "half of a snapshot"


@pytest.mark.alone
@pytest.mark.parametrize("has_room", [True, False], ids=["room", "no room"])
def test_five_hundred_saves_take_no_more_memory_than_a_few(
    has_room: bool, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if not has_room:
        request.getfixturevalue("no_room")
    model, optimizer = make(fused=True)
    seen: list[tuple[int, int, int]] = []
    with instride.Saver(
        tmp_path, keep=instride.Keep(last=1), model=model, optimizer=optimizer
    ) as saver:
        for step in range(1, 501):
            one_step(model, optimizer)
            pending = saver.save(step)
            if step % 100 == 0:
                pending.wait(60)
                seen.append(
                    (
                        usage().rss_bytes,  # of the writer as well
                        torch.cuda.memory_reserved(),
                        torch.cuda.mem_get_info()[0],
                    )
                )
    host, reserved, free = zip(*seen, strict=True)
    assert max(host) - host[0] < 16 << 20
    assert max(reserved) == reserved[0]
    assert free[0] - min(free) <= 2 << 20, "the least that a driver takes for itself"


def test_where_there_is_room_no_more_is_locked_than_a_snapshot_leaves_by(tmp_path: Path) -> None:
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()  # what a test before took counts as that of training
    x = torch.full((2 * GIB,), 5, dtype=torch.uint8, device="cuda")
    with instride.Saver(tmp_path, state=Holder(x=x)) as saver:
        for step in range(2):
            pending = saver.save(step)
            x.fill_(step)
            wanted = 0 if step else 5
            assert bool((load(pending.wait(120).path)["state"]["x"] == wanted).all())
        await_locking()
        assert arena_of(saver).locked_bytes == 0
        assert saver.prepare_cost_s > 0


def test_where_there_is_none_everything_is_locked_beside_training(
    no_room: None, tmp_path: Path
) -> None:
    x = torch.full((GIB // 4,), 5, dtype=torch.uint8, device="cuda")
    with instride.Saver(tmp_path, state=Holder(x=x)) as saver:
        saver.save(1).wait(60)
        await_locking()
        assert arena_of(saver).locked_bytes == arena_of(saver).num_bytes
        x.fill_(6)
        assert bool((load(saver.save(2).wait(60).path)["state"]["x"] == 6).all())


def test_locked_memory_is_let_go_before_it_is_unmapped(tmp_path: Path) -> None:
    """Else whatever is mapped there next cannot be copied to the device."""
    for run in range(4):
        x = torch.ones(64 << 20, dtype=torch.uint8, device="cuda")
        with instride.Saver(tmp_path / str(run), state=Holder(x=x)) as saver:
            lock_arena(saver)
            assert saver.prepare_cost_s > 0
            saver.save(1).wait(60)
        mapped = torch.from_file(
            str(tmp_path / str(run) / "step_00000001.pt"), size=60 << 20, dtype=torch.uint8
        )
        assert mapped.cuda().numel() == 60 << 20
