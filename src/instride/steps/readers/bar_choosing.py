"""Which bar of a log counts the training's steps."""

from __future__ import annotations

from collections.abc import Iterable

from instride.steps.readers.bar_families import Family
from instride.steps.readers.bars import Role

WEIGHTS = {Role.TRAINING: 4.0, Role.OTHER: 1.0, Role.EVALUATION: 0.05, Role.SAVING: 0.05}
A_COUPLE = 3
"""Updates, with the one that shows that nothing is done yet."""


def choose(families: Iterable[Family], total: int | None = None) -> Family | None:
    """The bar that ran longest, by a name that speaks of training if there is one.

    A bar of epochs runs as long as the bars inside it, but every one of its steps holds one of
    them; then the inner one is the training. Evaluations come only after some of the steps.
    """
    candidates = [each for each in dict.fromkeys(families) if each.role in WEIGHTS and each.bars]
    if total is not None:
        candidates = [each for each in candidates if each.total == total] or candidates
    candidates = [each for each in candidates if each.num_kept > A_COUPLE] or candidates
    if not candidates:
        return None
    longest = max(candidates, key=_weight)
    inner = [
        each
        for each in candidates
        if each.num_kept > longest.num_kept <= 2 * len(each.bars)
        and 3 * each.elapsed_s >= longest.elapsed_s
        and each.role is not Role.EVALUATION
    ]
    return max(inner, key=_weight) if inner else longest


def _weight(family: Family) -> tuple[float, int]:
    return (1 + family.elapsed_s) * WEIGHTS[family.role], family.num_kept
