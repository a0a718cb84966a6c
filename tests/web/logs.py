"""Logs made for the page: a training that evaluates, saves, slows down and comes back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random

from instride.explain.explaining import Explanation, explain
from instride.steps.choosing import choose
from instride.steps.reading import read_with

EVAL_EVERY = 500
SAVE_EVERY = 1000
ORDINARY_MS = 100.0


def training_log(num_steps: int, note: str = "", restart_at: int | None = None) -> str:
    """Every step of a loop that pauses for evaluations and saves, and starts again if asked to.

    `note` ends the lines of evaluations; after `restart_at` the last 200 steps come again.
    """
    lines = list(_process(0, restart_at or num_steps, note))
    if restart_at:
        lines += ["loading the checkpoint", *_process(restart_at - 200, num_steps, note)]
    return "\n".join(lines) + "\n"


def _process(first: int, end: int, note: str) -> Iterator[str]:
    random = Random(first)
    for step in range(first, end):
        took_ms = random.gauss(ORDINARY_MS, 1.5)
        if step and step % EVAL_EVERY == 0:
            yield f"step {step}: train loss 3.1000, val loss 3.2000{note}"
            took_ms += 4000
        if step and step % SAVE_EVERY == 0:
            yield "saving checkpoint to out"
            took_ms += 2500
        if step > SAVE_EVERY and 0 < step % SAVE_EVERY <= 30:
            took_ms *= 3
        yield f"iter {step}: loss 3.0000, time {took_ms:.2f}ms, mfu 30.00%"


def explained(text: str, path: Path) -> Explanation:
    """What instride finds in a log of this text."""
    path.write_text(text, encoding="utf-8")
    choice = choose((str(path),), None, ())
    return explain(read_with(choice.reader, choice.sources), choice.sources)
