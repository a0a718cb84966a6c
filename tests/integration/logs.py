"""Logs that the tests of the commands write."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

MIDNIGHT = datetime(2026, 3, 1, tzinfo=UTC)


def nanogpt(first: int, last: int, pause_every: int = 100, ms: float = 120.0) -> str:
    lines = []
    for step in range(first, last):
        if step % pause_every == 0:
            lines.append(f"step {step}: train loss 3.2110, val loss 3.3005")
        took = ms + step % 7 + (4000 if step % pause_every == 0 else 0)
        lines.append(f"iter {step}: loss 3.1000, time {took:.2f}ms, mfu 21.40%")
    return "\n".join(lines) + "\n"


def nanogpt_saving(
    num_steps: int,
    ms: float = 500.0,
    *,
    eval_every: int = 0,
    eval_s: float = 0.0,
    save_every: int = 0,
    save_s: float = 0.0,
    slow: int = 0,
) -> str:
    """A log whose iterations after a save are three times as slow for `slow` iterations."""
    lines = []
    left = 0
    for step in range(num_steps):
        took = ms + step % 7
        if left:
            took, left = 3 * took, left - 1
        if eval_every and step and step % eval_every == 0:
            lines.append(f"step {step}: train loss 3.2110, val loss 3.3005")
            took += 1000 * eval_s
        if save_every and step and step % save_every == 0:
            lines.append("saving checkpoint to out")
            took, left = took + 1000 * save_s, slow
        lines.append(f"iter {step}: loss 3.1000, time {took:.2f}ms, mfu 21.40%")
    return "\n".join(lines) + "\n"


def torchtitan(first: int, last: int, start_s: float, rank: int | None = None) -> str:
    """Every tenth step, with the time of day."""
    prefix = "" if rank is None else f"[rank{rank}]:"
    lines = []
    for step in range(first, last, 10):
        moment = MIDNIGHT + timedelta(seconds=start_s + (step - first) * 2.0)
        lines.append(
            f"{prefix}[titan] {moment:%Y-%m-%d %H:%M:%S},000 - root - INFO - step: {step:2}  "
            "loss:  4.1000  grad_norm:  0.5  memory: 10.00GiB(12.50%)  tps: 4,096  "
            "tflops: 100.00  mfu: 10.11%"
        )
    return "\n".join(lines) + "\n"


def llm_c(num_steps: int) -> str:
    """A trainer that stops its clock for what it marks."""
    lines = []
    for step in range(1, num_steps + 1):
        if step % 50 == 0:
            lines.append("val loss 3.512200")
        lines.append(
            f"step {step:4d}/{num_steps} | loss 3.511200 (+0.10z)| norm 0.5012 (+0.20z)| "
            "lr 6.00e-04 | 500.12 ms | 42.1% bf16 MFU | 524288 tok/s"
        )
    return "\n".join(lines) + "\n"
