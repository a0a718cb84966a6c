"""What tests of snapshots share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from instride.snapshot.arena import Arena
from tests.unit.snapshot.pretended import Driver, pretend


@pytest.fixture
def arena() -> Iterator[Arena]:
    made = Arena()
    yield made
    made.close()


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    return pretend(monkeypatch)
