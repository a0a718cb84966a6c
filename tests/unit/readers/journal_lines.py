"""Lines of a journal, as the writer writes them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

START_S = 1_767_225_600.0
STEP_S = 0.1


def line(t: float, kind: str, **fields: Any) -> str:
    return json.dumps({"t": round(t, 6), "kind": kind, **fields}, separators=(",", ":"))


def start(t: float, pid: int = 100, writer: int = 101) -> str:
    return line(
        t, "start", host="node1", trainer_pid=pid, trainer_started=pid * 7, writer_pid=writer
    )


def call(t: float, step: int, seconds: float, id: int = 1) -> str:
    return line(t, "call", id=id, step=step, s=seconds, waited_s=0.0)


def beats(
    begin: float, first: int, last: int, saves: dict[int, float] | None = None
) -> Iterator[str]:
    """Steps of a tenth of a second; after some of them, a save that training pays for."""
    now = begin
    for step in range(first, last):
        took = STEP_S + (saves or {}).get(step - 1, 0.0)
        now += took
        fields = {"s": round(took, 6)} if step > first else {}
        yield line(now, "step", step=step, **fields)


def unnumbered(begin: float, count: int) -> list[str]:
    """Steps of a loop that does not tell them."""
    return [
        line(begin + i * STEP_S, "step", step=-1, **({"s": STEP_S} if i > 1 else {}))
        for i in range(1, count + 1)
    ]


def restored(t: float, step: int | None) -> str:
    return line(t, "restored", step=step)
