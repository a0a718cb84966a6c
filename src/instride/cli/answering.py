"""From the logs that the user named to an explanation: the same for every verb that reads them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from instride.explain.explaining import Explanation


def explained(
    logs: Sequence[str],
    dialect: str | None,
    patterns: Sequence[str],
    mtbf_s: float | None = None,
) -> Explanation:
    """Choose the files and the reader, read the run, and explain it."""
    from instride.explain.explaining import explain
    from instride.steps.choosing import choose
    from instride.steps.reading import read_with

    choice = choose(logs, dialect, patterns)
    run = read_with(choice.reader, choice.sources)
    run.notes += choice.notes
    return explain(run, choice.sources, mtbf_s)
