"""Logs whose screens are kept as files: each is made here, and always the same."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from random import Random

BEGIN = datetime(2026, 3, 2, 9, 30, 0)
FIRST, SAVED, LAST = 1201, 1680, 1703
STEP_MS = 5200.0
SAVE_MS = 31_000.0
ACCUMULATION = 16
EVALUATES_EVERY = 250


def step_timing() -> str:
    """A run that accumulates gradients over 16 steps, saves, crawls for 23 steps, dies, and goes
    on the next morning from what it had saved.
    """
    random = Random(7)
    now = BEGIN
    lines = ["# Step Timing Log"]

    def takes(step: int, mode: str, ms: float) -> None:
        nonlocal now
        now += timedelta(milliseconds=ms)
        lines.append(
            f"{now.isoformat()} [Step {step:6d}] {mode:12} | total={ms:.1f}ms | mode={mode}"
        )

    def ordinary(step: int) -> float:
        accumulated = 1.09 if step % ACCUMULATION == 0 else 1.0
        return STEP_MS * accumulated * random.gauss(1.0, 0.006)

    for step in range(FIRST, SAVED):
        takes(step, "NORMAL", ordinary(step) + (2600.0 if step == FIRST else 0.0))
    takes(SAVED, "NORMAL", ordinary(SAVED) + SAVE_MS)
    for step in range(SAVED + 1, LAST + 1):
        takes(step, "POST-CKPT", 3.3 * ordinary(step))
    now += timedelta(hours=14, minutes=6)
    lines.append("# Step Timing Log")
    for step in range(SAVED + 1, SAVED + 9):
        takes(step, "POST-CKPT", ordinary(step) + (2300.0 if step == SAVED + 1 else 0.0))
    return "\n".join(lines) + "\n"


def nanogpt() -> str:
    """A run that prints every 10th iteration, compiles, evaluates every 250 and saves after it."""
    return "\n".join(_nanogpt_lines()) + "\n"


def _nanogpt_lines() -> Iterator[str]:
    random = Random(11)
    yield "tokens per iteration will be: 491,520"
    yield "compiling the model... (takes a ~minute)"
    for step in range(0, 5001, 10):
        ms = 412.0 * random.gauss(1.0, 0.004)
        if step == 0:
            ms += 38_000.0
        if step % EVALUATES_EVERY == 0:
            ms += 21_500.0
            yield f"step {step}: train loss {_loss(step):.4f}, val loss {_loss(step) + 0.07:.4f}"
            if step and step % (2 * EVALUATES_EVERY) == 0:
                ms += 6_400.0
                yield "saving checkpoint to out"
        yield f"iter {step}: loss {_loss(step):.4f}, time {ms:.2f}ms, mfu 31.20%"


def _loss(step: int) -> float:
    return 3.0 + 8.0 / (1 + step / 150)


LOGS = {"step-timing": step_timing, "nanogpt": nanogpt}
