"""What the names of a script's checkpoints tell: the step, and which files are one series.

step_1000.pt, step_2000.pt            step_#.pt
epoch=3-step=1000.ckpt                epoch=#-step=#.ckpt
best.pt                               no number, no series: nothing that could be the oldest
"""

from __future__ import annotations

import re
from typing import NamedTuple

PAIR = re.compile(r"([A-Za-z_]+)=(-?[0-9]+(?:\.[0-9]+)?)")
NUMBER = re.compile(r"[0-9]+")
STEPS = ("step", "global_step", "iter", "iteration", "epoch")


class Place(NamedTuple):
    """Where a checkpoint stands among others."""

    series: str
    """Its name without its numbers."""
    step: int


def place_of(name: str) -> Place | None:
    """The series and the step of a file; None where its name has no number.

    Of several numbers the last one counts: the others tell two runs in one directory apart.
    """
    stem, dot, suffix = name.rpartition(".")
    if not dot:
        stem, suffix = name, ""
    pairs = {found[1].lower(): found[2] for found in PAIR.finditer(stem)}
    whole = {key: int(value) for key, value in pairs.items() if value.isdigit()}
    if whole:
        step = next((whole[key] for key in STEPS if key in whole), [*whole.values()][-1])
        return Place(PAIR.sub(r"\1=#", stem) + dot + suffix, step)
    numbers = list(NUMBER.finditer(stem))
    if not numbers:
        return None
    last = numbers[-1]
    return Place(f"{stem[: last.start()]}#{stem[last.end() :]}{dot}{suffix}", int(last[0]))
