"""Fixtures of those who read a source."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from instride.steps.source import Source

if sys.version_info >= (3, 14):
    pass
else:
    pass


@pytest.fixture
def log(tmp_path: Path) -> Callable[[bytes], Source]:
    def write(content: bytes) -> Source:
        path = tmp_path / "train.log"
        path.write_bytes(content)
        return Source(str(path))

    return write


@pytest.fixture(scope="session")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file for all examples of a property."""
    return tmp_path_factory.mktemp("source") / "train.log"
