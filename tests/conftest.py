"""Fixtures shared by all tests."""

from __future__ import annotations

from pathlib import Path

import pytest

CASES = Path(__file__).parents[2] / "shared" / "cases"


@pytest.fixture(scope="session")
def cases() -> Path:
    """Real training logs of other people, where they lie beside the checkout."""
    if not CASES.is_dir():
        pytest.skip("there are no real training logs in shared/cases beside this checkout")
    return CASES
