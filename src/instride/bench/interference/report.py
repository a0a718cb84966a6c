"""The answer of `bench interference`, in the shape of the JSON contract (schema 1).

`docs/reference/bench-interference.schema.json` is generated from these structures and checked by a
test.
"""

from __future__ import annotations

import msgspec

from instride.bench.interference.names import Scenario
from instride.bench.report import Machine

SCHEMA = 1


class Row(msgspec.Struct, frozen=True):
    """One way of compressing beside the training. An inflation of 1 is none."""

    name: str
    num_blocks: int
    median_inflation: float
    """The median step of each block with the rival over that of the blocks without it on both
    sides; of these the median."""
    mean_inflation: float
    """The same with means: what a training of a day would feel."""
    p95_inflation: float
    """The step that one in twenty exceeds, of all blocks with the rival, over the same without."""
    spread: float
    """Of the inflation from block to block: between the quarters with the least and the most."""
    finish_s: float | None
    """Seconds at work until the file was compressed for the first time, with those behind the
    blocks if need be; null if it never was."""
    alone_s: float | None
    """How many of these it went on after the training had ended; 0 if it was done beside it."""
    peak_bytes: int
    """The most memory that the rival had at the end of a block."""
    said: str | None
    """What the rival itself says that it cost."""


class Trace(msgspec.Struct, frozen=True):
    """Step by step, around one block of a row."""

    name: str
    at_s: list[float]
    """When each step ended, from the beginning of the block on."""
    step_s: list[float]


class Report(msgspec.Struct, frozen=True):
    """What `instride bench interference --json` prints."""

    schema: int
    machine: Machine
    scenario: Scenario
    file_bytes: int
    block_s: float
    """A block with a rival; those without are as long, and those of instride longer."""
    base_step_s: float
    """What a step takes while nothing else runs."""
    took_s: float
    """The benchmark itself."""
    rows: list[Row]
    traces: list[Trace]
