"""What tests of snapshots share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from instride.snapshot.arena import Arena
from tests.unit.snapshot.pretended import Driver, pretend


@pytest.fixture
def arena(request: pytest.FixtureRequest) -> Iterator[Arena]:
    """One that leaves nothing locked, where a driver is pretended."""
    made = Arena()
    yield made
    made.close()
    if "driver" in request.fixturenames:
        assert request.getfixturevalue("driver").locked == {}


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    return pretend(monkeypatch)
