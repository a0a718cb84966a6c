"""What tests of the governor share."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as a simulation has threads, wherever it runs. To find out how many there are takes
    longer than all else that a simulated governor does when it looks."""
    monkeypatch.setattr("instride.governor.gauge.usable_cores", lambda: 4)
