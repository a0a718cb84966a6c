"""Two runs to compare, and what came of it."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from instride.explain.compared import Comparison, FindingChange, OwnerChange
from instride.explain.spans import Owner
from instride.steps.model import EventKind, Run
from tests.unit.explain.making import Training

EVAL, SAVE = EventKind.EVAL, EventKind.SAVE
Compare = Callable[[Run, Run], Comparison]


def made(
    num_steps: int = 1000,
    step_s: float = 1.0,
    *,
    kind: EventKind = SAVE,
    every: int = 100,
    pause_s: float = 0.0,
    slow: int = 0,
    training: Training | None = None,
) -> Run:
    """Steps with a pause every so many, marked even if it costs nothing; `slow` steps after it."""
    training = training or Training()
    for step in range(num_steps):
        if pause_s and step and step % every == 0:
            training.pause(kind, pause_s)
        elif kind is SAVE and step and step % every == 0:
            training.mark(kind)
        is_slow = slow and step > every and 0 < step % every <= slow
        training.train(1, 3 * step_s if is_slow else step_s)
    return training.finish()


def plain(num_steps: int = 1000, step_s: float = 1.0, first_s: float = 0.0) -> Run:
    training = Training()
    training.train(1, first_s or step_s)
    training.train(num_steps - 1, step_s)
    return training.finish()


def owner(comparison: Comparison, which: Owner) -> OwnerChange:
    (found,) = [each for each in comparison.owners if each.owner is which]
    return found


def change_of(comparison: Comparison, name: str) -> FindingChange:
    (found,) = [each for each in comparison.findings if each.finding.id == name]
    return found


def caveats_of(comparison: Comparison) -> dict[str, dict[str, float | int | str | None]]:
    return {each.id: each.facts for each in comparison.caveats}


def foreign() -> Run:
    run = plain()
    run.dialect = msgspec.structs.replace(run.dialect, name="foreign", title="Foreign")
    return run
