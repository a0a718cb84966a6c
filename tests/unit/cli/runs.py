"""The runs that every finding and every unknown has a story for, explained."""

from __future__ import annotations

from pathlib import Path

from instride.explain.explaining import Explanation, explain
from instride.steps.source import Source
from tests.unit.explain.pausing import Story
from tests.unit.explain.stories import FINDINGS, UNKNOWNS

STORIES: dict[str, Story] = {
    f"{name}-{number}": story
    for name, stories in [*FINDINGS.items(), *UNKNOWNS.items()]
    for number, story in enumerate(stories)
}


def explained(name: str, folder: Path, line: str = "a line of the log") -> Explanation:
    """A story as if it had been read from a file whose lines all say the same."""
    log = folder / "train.log"
    log.write_text(f"{line}\n" * 5000, encoding="utf-8")
    return explain(STORIES[name](), [Source(str(log))])
