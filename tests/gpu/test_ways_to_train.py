"""Every way to train that people use: its snapshots are right, or it is refused by name."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import torch

import instride
from tests.gpu.holding import Holder
from tests.gpu.trainings import (
    NEEDS_A_GPU,
    assert_same,
    busy,
    hammer,
    load,
    loss_of,
    make,
    make_model,
    one_step,
)

pytestmark = NEEDS_A_GPU


def test_scaled_gradients(room: str, tmp_path: Path) -> None:
    model, optimizer = make(fused=True)
    scaler = torch.amp.GradScaler("cuda")
    parts: dict[str, Any] = {"model": model, "optimizer": optimizer, "scaler": scaler}

    def step() -> None:
        with torch.autocast("cuda", torch.float16):
            loss = loss_of(model)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()

    with instride.Saver(tmp_path, **parts) as saver:
        hammer(saver, parts, step)


def test_a_scaled_step_that_is_skipped(room: str, tmp_path: Path) -> None:
    """No hook runs then; what comes next may change everything all the same."""
    model, optimizer = make()
    scaler = torch.amp.GradScaler("cuda")
    parts: dict[str, Any] = {"model": model, "optimizer": optimizer, "scaler": scaler}

    def step() -> None:
        (loss_of(model) * float("inf")).backward()
        scaler.scale(torch.ones(1, device="cuda"))
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
        one_step(model, optimizer)

    with instride.Saver(tmp_path, **parts) as saver:
        hammer(saver, parts, step)


def test_gradients_of_several_batches(room: str, tmp_path: Path) -> None:
    model, optimizer = make(fused=True)
    parts: dict[str, Any] = {"model": model, "optimizer": optimizer}
    with instride.Saver(tmp_path, **parts) as saver:

        def step() -> None:
            for _ in range(4):
                loss_of(model).backward()
                torch.cuda.synchronize()
            optimizer.step()
            optimizer.zero_grad()

        hammer(saver, parts, step)


def test_an_average_of_the_weights_that_follows_them(room: str, tmp_path: Path) -> None:
    model, optimizer = make(fused=True)
    average = torch.optim.swa_utils.AveragedModel(
        model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9)
    )
    parts: dict[str, Any] = {"model": model, "optimizer": optimizer, "average": average}

    def step() -> None:
        average.update_parameters(model)  # before the optimizer: nothing fences this
        one_step(model, optimizer)

    with instride.Saver(tmp_path, **parts) as saver:
        hammer(saver, parts, step)


def test_several_models_and_optimizers(room: str, tmp_path: Path) -> None:
    first, its = make(fused=True)
    second, others = make(foreach=True)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(its, 100)
    parts: dict[str, Any] = {"g": first, "d": second, "g_opt": its, "d_opt": others, "s": schedule}
    turn = [0]

    def step() -> None:
        turn[0] += 1
        one_step(*((first, its) if turn[0] % 2 else (second, others)))
        schedule.step()

    with instride.Saver(tmp_path, **parts) as saver:
        hammer(saver, parts, step)


def test_optimizers_that_step_inside_backward(room: str, tmp_path: Path) -> None:
    model = make_model()
    optimizers = {p: torch.optim.AdamW([p], lr=1e-2, fused=True) for p in model.parameters()}

    def step_one(parameter: torch.Tensor) -> None:
        optimizers[parameter].step()
        optimizers[parameter].zero_grad()

    for parameter in model.parameters():
        parameter.register_post_accumulate_grad_hook(step_one)
    parts: dict[str, Any] = {
        "model": model,
        **{f"o{n}": optimizer for n, optimizer in enumerate(optimizers.values())},
    }
    with instride.Saver(tmp_path, **parts) as saver:
        hammer(saver, parts, lambda: loss_of(model).backward())


def test_an_optimizer_that_is_no_part(room: str, tmp_path: Path) -> None:
    """Nobody sees its hooks: nothing of it may be late."""
    model, optimizer = make(fused=True)
    with instride.Saver(tmp_path, model=model) as saver:
        hammer(saver, {"model": model}, lambda: one_step(model, optimizer))


@pytest.mark.filterwarnings("default")  # the compiler warns of itself
def test_a_compiled_model_and_a_compiled_optimizer_step(room: str, tmp_path: Path) -> None:
    model, optimizer = make()
    compiled = torch.compile(model)
    optimize = torch.compile(optimizer.step)
    parts: dict[str, Any] = {"model": model, "optimizer": optimizer}

    def step() -> None:
        loss_of(compiled).backward()
        optimize()
        optimizer.zero_grad()

    with instride.Saver(tmp_path, **parts) as saver:
        hammer(saver, parts, step, range(1, 5))


@pytest.mark.filterwarnings("default")  # the compiler warns of itself
def test_a_model_that_is_compiled_to_graphs(room: str, tmp_path: Path) -> None:
    """Forward and backward are captured while a snapshot is on its way, then replayed, and write to
    averages that no version is counted of. The optimizer steps as ever, and waits."""
    from torch._inductor import cudagraph_trees

    torch.compiler.reset()  # what others compiled counts against a limit, and nothing is beyond it
    model, optimizer = make(fused=True)
    compiled = torch.compile(model, mode="reduce-overhead")
    parts: dict[str, Any] = {"model": model, "optimizer": optimizer}

    def step() -> None:
        torch.compiler.cudagraph_mark_step_begin()
        loss_of(compiled).backward()
        optimizer.step()
        optimizer.zero_grad()

    with instride.Saver(tmp_path, **parts) as saver:
        hammer(saver, parts, step, range(1, 7))
    device = torch.cuda.current_device()
    graphs = cudagraph_trees.get_manager(device, create_if_none_exists=False)
    assert graphs is not None, "the compiler captured nothing: this was the test above once more"


def test_state_that_is_kept_on_the_host_and_written_from_the_device(
    queue: torch.Tensor, room: str, tmp_path: Path
) -> None:
    on_device = torch.zeros(8 << 20, device="cuda")
    on_host = torch.zeros(8 << 20, pin_memory=True)
    plain = torch.zeros(1000)
    with instride.Saver(
        tmp_path, state=Holder(on_device=on_device, on_host=on_host, plain=plain)
    ) as saver:
        for blow in range(1, 8):
            busy(queue)
            on_device.fill_(blow)
            on_host.copy_(on_device, non_blocking=True)
            plain.fill_(blow)
            pending = saver.save(blow)
            on_device.fill_(-1)
            on_host.copy_(on_device, non_blocking=True)
            plain.fill_(-1)
            saved = load(pending.wait(60).path)["state"]
            assert all(bool((tensor == blow).all()) for tensor in saved.values())
            torch.cuda.synchronize()


@pytest.mark.parametrize("is_scaled", [False, True], ids=["single", "half with scaled gradients"])
def test_a_run_that_was_resumed_is_the_same_run(is_scaled: bool, room: str, tmp_path: Path) -> None:
    """Each loss, and at the end all that any part of it has."""

    def train(store: Path, stop: int) -> tuple[list[float], dict[str, Any]]:
        model, optimizer = make(fused=True)
        dropout = torch.nn.Dropout(0.3)
        parts: dict[str, Any] = {
            "model": model,
            "optimizer": optimizer,
            "schedule": torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 20),
            # Grows in mid-run, so that it has more to remember than what it began with.
            "scaler": torch.amp.GradScaler("cuda", 2.0**10, growth_interval=3, enabled=is_scaled),
        }
        losses: list[float] = []
        with instride.Saver(store, **parts) as saver:
            start = saver.restore()
            losses += saver.extra.get("losses", [])
            for step in range(start, stop):
                with torch.autocast("cuda", torch.float16, enabled=is_scaled):
                    loss = dropout(model(torch.randn(64, 1500, device="cuda"))).square().mean()
                optimizer.zero_grad()
                parts["scaler"].scale(loss).backward()
                parts["scaler"].step(optimizer)
                parts["scaler"].update()
                parts["schedule"].step()
                losses.append(loss.item())
                if step == 4:
                    saver.save(step, extra={"losses": copy.copy(losses)})
        return losses, {name: part.state_dict() for name, part in parts.items()}

    losses, whole = train(tmp_path / "whole", 9)
    train(tmp_path / "parts", 7)
    losses_in_parts, in_parts = train(tmp_path / "parts", 9)

    assert losses_in_parts == losses
    assert_same(in_parts, whole)
    assert whole["schedule"]["last_epoch"] == 9, "nothing was left out of the whole"


def test_a_state_larger_than_the_memory_it_may_take(tmp_path: Path) -> None:
    x = torch.arange(16 << 20, device="cuda")
    holder = Holder(x=x)
    with instride.Saver(tmp_path, memory_bytes=32 << 20, state=holder) as saver:
        hammer(saver, {"state": holder}, lambda: x.add_(1), range(1, 4))
