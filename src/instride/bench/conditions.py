"""What answers must share for a table to be made of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from instride.bench.report import Machine

MEMORY_DIFFERS = 0.01
"""Kernels keep some of the memory for themselves, and not as much at each start."""


class Conditions(msgspec.Struct, frozen=True, tag=True):
    schema: int
    machine: Machine
    num_params: int
    device: str
    is_synced_loop: bool


def differing(theirs: Conditions, ours: Conditions) -> list[tuple[str, str]]:
    """What is not the same, as names with values: theirs and ours. Not the load, which never is;
    and the version of instride is none of the conditions."""
    there, here = dict(_flat(theirs)), dict(_flat(ours))
    return [
        (f"{name}={there[name]}", f"{name}={value}")
        for name, value in here.items()
        if not _is_same(name, there[name], value)
    ]


def _flat(conditions: Conditions) -> Iterator[tuple[str, Any]]:
    for name in conditions.__struct_fields__:
        value = getattr(conditions, name)
        if isinstance(value, Machine):
            yield from ((each, getattr(value, each)) for each in value.__struct_fields__)
        else:
            yield name, value


def _is_same(name: str, theirs: Any, ours: Any) -> bool:
    if name == "load":
        return True
    if name == "memory_bytes":
        return bool(abs(theirs - ours) <= MEMORY_DIFFERS * ours)
    return bool(theirs == ours)
