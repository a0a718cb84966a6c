"""What tests of the Saver share."""

from __future__ import annotations

import pytest

from instride.system import background


@pytest.fixture
def nothing_in_the_background(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a system that lacks what that needs."""
    from instride.saver.functions import save  # loads torch, which not all of them need

    monkeypatch.setattr(background, "is_possible", lambda: False)
    monkeypatch.setitem(save.__globals__, "_engine", None)
