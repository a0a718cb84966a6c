"""Fixtures for the tests of the commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.commands import Screen


@pytest.fixture
def screen(request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]) -> Screen:
    """The verb that the file is about."""
    return Screen("compare" if "compare" in request.node.path.name else "explain", capsys)


@pytest.fixture
def own_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory of its own, and an environment that says nothing about the terminal."""
    monkeypatch.chdir(tmp_path)
    for name in ("FORCE_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
