"""What a `Saver` is asked for: a slip is told at once, by its value and what to write instead."""

from __future__ import annotations

import math
import numbers
import operator
import os
import reprlib
from pathlib import Path
from typing import Any

import torch

from instride.saver.pending import is_sayable
from instride.store.retention import Keep

MOST_STEPS = 1 << 63
SHORT = (bytes, bool, int, float, type(None))
"""What is no path, and short enough to be shown."""


def directory_of(directory: object) -> Path:
    """Where a store is. Raises TypeError and ValueError."""
    path = _absolute("directory", directory, "'checkpoints', or '.' for the current one")
    if "\0" in str(path) or not is_sayable(path):
        raise ValueError(f"directory={str(directory)!a}: its name must be UTF-8, without a NUL")
    return path


def file_of(path: object) -> Path:
    """A checkpoint. Raises TypeError and ValueError."""
    return _absolute("path", path, "'model.pt'")


def _absolute(name: str, path: object, example: str) -> Path:
    if not isinstance(path, str | os.PathLike):
        # By its type: who swaps the arguments of `save` has given a whole training for the path.
        given = repr(path) if isinstance(path, SHORT) else f"<{type(path).__qualname__}>"
        raise TypeError(f"{name}={given}: must be a path, as in {example}")
    if path == "":
        # For pathlib that is where the program was started: nobody who forgot a name means that.
        raise ValueError(f"{name}='': must have a name, as in {example}")
    return Path(path).absolute()


def check_options(
    *,
    keep: object,
    when_busy: object,
    on_error: object,
    memory_bytes: object,
    stall_s: object,
    budget: object,
    **flags: object,
) -> None:
    """Raise TypeError or ValueError for what an option cannot be."""
    if when_busy not in ("wait", "skip"):
        raise ValueError(f"when_busy={when_busy!r}: must be 'wait' or 'skip'")
    if on_error not in ("warn", "raise"):
        raise ValueError(f"on_error={on_error!r}: must be 'warn' or 'raise'")
    if not isinstance(keep, Keep | None):
        raise TypeError(f"keep={keep!r}: must be a Keep, as in keep=instride.Keep(last=3)")
    if budget is not None and not 0 < _number(budget) < 1:
        raise ValueError(f"budget={budget!r}: must be a share between 0 and 1, or None")
    is_whole = isinstance(memory_bytes, numbers.Integral) and not isinstance(memory_bytes, bool)
    if memory_bytes is not None and not (is_whole and _number(memory_bytes) > 0):
        raise ValueError(
            f"memory_bytes={memory_bytes!r}: must be a whole number of bytes, as in 8 << 30 for "
            "8 GiB, or None"
        )
    if not _number(stall_s) > 0:
        raise ValueError(f"stall_s={stall_s!r}: must be a number of seconds above 0, as in 60.0")
    check_flags(**flags)


def check_flags(**flags: object) -> None:
    for name, flag in flags.items():
        if not isinstance(flag, bool):
            raise TypeError(f"{name}={flag!r}: must be True or False")


def check_extra(extra: object) -> None:
    if not isinstance(extra, dict | None):
        raise TypeError(
            f"extra={reprlib.repr(extra)}: must be a dictionary, as in extra={{'tokens': seen}}"
        )


def whole_step(step: object) -> int:
    """The number of a step, also as NumPy and torch have it. Raises ValueError."""
    try:
        number = operator.index(step)  # type: ignore[arg-type]  # that is what is found out
    except TypeError:
        number = -1
    if isinstance(step, bool) or not 0 <= number < MOST_STEPS:
        cure = "; int(step) is one" if isinstance(step, float) and step.is_integer() else ""
        raise ValueError(f"step={step!r}: must be a whole number from 0 on, below 2**63{cure}")
    return number


def number_of(metric: Any) -> float | None:
    """A metric as a number to compare by; None if it is infinite, or NaN. Raises TypeError for what
    is no number."""
    try:
        # A loss may still have what computed it, and torch warns of what drops that.
        plain = metric.detach() if isinstance(metric, torch.Tensor) else metric
        return float(plain) if math.isfinite(plain) else None
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise TypeError(
            f"metric={reprlib.repr(metric)}: must be one number to compare by, as in "
            "metric=loss.item(), or None"
        ) from error


def _number(value: object) -> float:
    """NaN, which fits no limits, for what is no number; NumPy has numbers too."""
    is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
    return float(value) if is_number else math.nan  # type: ignore[arg-type]  # it is one
