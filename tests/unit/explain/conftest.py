"""Fixtures for explaining runs that were never written to a file."""

from __future__ import annotations

import pytest

from instride.explain.comparing import compare
from instride.explain.explaining import explain
from instride.steps.source import Source
from tests.unit.explain.pairs import Compare

NUM_LINES = 5000


@pytest.fixture(scope="session")
def paper(tmp_path_factory: pytest.TempPathFactory) -> Source:
    """A log whose lines say nothing but their number: evidence can be quoted from it."""
    path = tmp_path_factory.mktemp("explain") / "train.log"
    path.write_text("".join(f"line {number}\n" for number in range(1, NUM_LINES + 1)))
    return Source(str(path))


@pytest.fixture
def compared(paper: Source) -> Compare:
    return lambda before, after: compare(explain(before, [paper]), explain(after, [paper]))
