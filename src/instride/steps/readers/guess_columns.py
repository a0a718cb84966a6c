"""Columns of a log, and whether one counts the steps.

A column is what stands in the same place of many lines: numbers after the same word, or the values
of one key. What it holds is told by its name and its unit, and proven by how its values run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from math import ceil

import msgspec

from instride.steps.readers.guess_words import is_any
from instride.steps.readers.marking import EpochCount

FEWEST_RECORDS = 5
MOSTLY = 0.8
"""Share of consecutive records in which a step must be higher than the one before."""
RECENT = 4
"""Distinct steps within which a repeated one is another rank's."""

FEWEST_BATCHES = 10
"""Batches from record to record, for what begins an epoch to be taken for one."""


class Column(msgspec.Struct, eq=False):
    """Numbers that mean the same, one a record (NaN where a record has none)."""

    name: str
    """As shown to the user: the word before it, or the key."""
    words: tuple[str, ...]
    """Its name in lower-case words."""
    unit: str
    kind: str
    """`number`, `clock` or `compound`, as for slots; `stamp` for a timestamp."""
    values: list[float]
    is_whole: bool
    totals: list[int | None]

    def has(self, names: frozenset[str]) -> bool:
        return any(is_any(word, names) for word in self.words)

    @property
    def last_word(self) -> str:
        return self.words[-1] if self.words else ""


def distinct(steps: Sequence[int]) -> list[int]:
    """Steps without those that other ranks repeat."""
    kept: list[int] = []
    for step in steps:
        if step not in kept[-RECENT:]:
            kept.append(step)
    return kept


def counts_up(steps: Sequence[int]) -> bool:
    """Whether this is how steps run: enough of them, and nearly always higher than before."""
    kept = distinct(steps)
    if len(kept) < FEWEST_RECORDS or len(kept) < len(steps) / 64:
        return False
    ups = sum(after > before for before, after in pairwise(kept))
    return ups >= MOSTLY * (len(kept) - 1)


def stride_of(steps: Sequence[int]) -> tuple[int, float]:
    """The usual distance of two records, and how usual it is."""
    gaps = [after - before for before, after in pairwise(distinct(steps)) if after > before]
    if not gaps:
        return 1, 0.0
    stride, times = Counter(gaps).most_common(1)[0]
    return stride, times / len(gaps)


def count_through(epochs: Sequence[int], iterations: Column, first_epoch: int) -> list[int] | None:
    """Steps counted on through the epochs; None where they are counted on anyway."""
    values = [int(value) for value in iterations.values]
    changes = [
        (before, after)
        for (before, after), (old, new) in zip(pairwise(values), pairwise(epochs), strict=True)
        if new > old
    ]
    if changes and sum(after > before for before, after in changes) > 0.5 * len(changes):
        return None
    counter = EpochCount(first_epoch=first_epoch)
    rows = zip(epochs, values, iterations.totals, strict=True)
    return [counter.step(epoch, value, total) for epoch, value, total in rows]


def samples_a_step(epochs: Sequence[int], counts: Column) -> int:
    """How many samples a batch has, where an epoch counts those: 16, 1616, 3216 of 5011.

    What every epoch begins with is the first batch, unless it is the distance of the records.
    """
    values = [int(value) for value in counts.values]
    firsts = Counter(values[at] for at in range(1, len(epochs)) if epochs[at] > epochs[at - 1])
    if not firsts or counts.totals[0] is None:
        return 1
    (first, times), stride = firsts.most_common(1)[0], stride_of(values)[0]
    if times < MOSTLY * firsts.total():
        return 1
    is_batch = 1 < first <= stride // FEWEST_BATCHES and stride % first == 0
    ends = {total for total in counts.totals if total is not None}
    return first if is_batch and all(v % first == 0 or v in ends for v in values) else 1


def in_batches(counts: Column, batch: int) -> Column:
    """Samples as steps; the last batch of an epoch may be smaller."""
    values = [float(ceil(value / batch)) for value in counts.values]
    totals = [None if total is None else ceil(total / batch) for total in counts.totals]
    return msgspec.structs.replace(counts, values=values, totals=totals)
