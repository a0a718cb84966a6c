"""A disk that refuses an answer for a moment: what it does not tell of is not gone."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from instride.agent.looking import Looking
from instride.agent.remembering import FILE, Memory
from instride.places import PRIVATE
from tests.unit.agent.agents import save


@pytest.mark.parametrize(("error", "is_gone"), [(errno.ENOENT, True), (errno.EIO, False)])
def test_only_what_is_not_there_has_vanished(
    error: int, is_gone: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What vanishes and comes back would count as the newest, and others would go for it."""
    save(tmp_path, "step_100.pt")

    def refuse(**_: object) -> Any:
        raise OSError(error, os.strerror(error))

    @contextmanager
    def scan(directory: Path) -> Iterator[list[Any]]:
        names = [path.name for path in directory.iterdir()]
        yield [SimpleNamespace(name=name, is_symlink=lambda: False, stat=refuse) for name in names]

    monkeypatch.setattr("instride.agent.looking.os.scandir", scan)
    looking = Looking(tmp_path, "*.pt")
    if is_gone:
        assert looking.look().originals == {}
    else:
        with pytest.raises(OSError, match=os.strerror(error)):
            looking.look()


def test_a_memory_that_cannot_be_read_is_not_an_empty_one(tmp_path: Path) -> None:
    path = tmp_path / PRIVATE / FILE
    path.mkdir(parents=True)  # as good as any other reason for not being readable
    memory = Memory(tmp_path)
    for _ in range(2):
        with pytest.raises(IsADirectoryError):
            _ = memory.files
    path.rmdir()
    assert memory.files == {}


def test_a_memory_that_is_no_memory_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / PRIVATE / FILE
    path.parent.mkdir()
    path.write_bytes(b"{")
    assert Memory(tmp_path).files == {}
