"""The shape of what `instride explain --json` prints, and where an answer breaks it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

NUMBER = (int, float)
LINE = {"line": int, "text": str}
EVIDENCE = [(LINE, {**LINE, "source": str})]
CONTRACT: dict[str, Any] = {
    "schema": int,
    "dialect": str,
    "source": [str],
    "steps": {"observed": int, "first": int, "last": int, "sampled_every": int},
    "baseline_s": NUMBER,
    "cadence": (None, {"period": int, "offset": int}),
    "owners": {str: {"seconds": NUMBER, "share": NUMBER, "steps": int}},
    "spans": [
        {
            "owner": str,
            "first_step": int,
            "last_step": int,
            "extra_s": NUMBER,
            "factor": NUMBER,
            "measured": bool,
            "evidence": EVIDENCE,
        }
    ],
    "restarts": [
        {
            "line": int,
            "resumed_at": int,
            "gap_s": (None, *NUMBER),
            "lost_steps": int,
            "lost_s": NUMBER,
        }
    ],
    "findings": [
        {
            "id": str,
            "owner": str,
            "cost_s": NUMBER,
            "share": NUMBER,
            "confidence": str,
            "rung": str,
            "part_of": (None, str),
            "sentence": str,
            "evidence": EVIDENCE,
            "remedies": [
                {"text": str, "change": (None, str), "saves_s": (None, *NUMBER)},
            ],
            "alternatives": [{"text": str, "check": str}],
        }
    ],
    "unknown": [str],
    "advice": [
        {"id": str, "text": str, "change": (str, None), "saves_s": (float, int, None)},
    ],
}
"""Schema 1: a type, a list of one shape, a dictionary of shapes, or a tuple of alternatives."""


def breaches(value: object, shape: object, where: str = "answer") -> Iterator[str]:
    """Where a value does not have its shape."""
    if isinstance(shape, tuple):
        if all(any(breaches(value, each)) for each in shape):
            yield f"{where} is {value!r}"
    elif isinstance(shape, list) and isinstance(value, list):
        for index, item in enumerate(value):
            yield from breaches(item, shape[0], f"{where}[{index}]")
    elif isinstance(shape, dict) and isinstance(value, dict):
        shapes = dict.fromkeys(value, shape[str]) if str in shape else shape
        if shapes.keys() != value.keys():
            yield f"{where} has {sorted(value)}"
        for key in shapes.keys() & value.keys():
            yield from breaches(value[key], shapes[key], f"{where}.{key}")
    elif value is not None if shape is None else type(value) is not shape:
        yield f"{where} is {value!r}"
