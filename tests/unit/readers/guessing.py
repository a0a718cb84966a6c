"""Reading lines of a trainer that nobody knows."""

from __future__ import annotations

from collections.abc import Sequence

from instride.steps.model import Run
from instride.steps.readers.guess import Guess, guess
from tests.unit.readers.reading import run_of


def learn(lines: Sequence[str]) -> Guess:
    found = guess(list(enumerate(lines, 1)))
    assert found is not None
    return found


def read(lines: Sequence[str], learnt_from: Sequence[str] | None = None) -> Run:
    reader_type = learn(learnt_from or lines).reader
    return run_of(reader_type, lines)


def record(n: int, seconds: float = 0.5) -> str:
    return f"step {n} | loss {3 - n / 100:.3f} | dt {seconds:.3f} s"


def records(first: int, last: int) -> list[str]:
    return [record(n) for n in range(first, last + 1)]
