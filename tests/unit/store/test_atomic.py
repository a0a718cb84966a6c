"""What renames and fsyncs: watched through the system calls that it makes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from instride.store.atomic import make_directory, write_whole


def test_every_directory_that_is_made_is_durable_in_the_one_above(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    fsync = os.fsync

    def note(fd: int) -> None:
        synced.append(str(Path(f"/proc/self/fd/{fd}").readlink()))
        fsync(fd)

    monkeypatch.setattr(os, "fsync", note)
    make_directory(tmp_path / "a" / "b" / "c")
    assert synced == [str(tmp_path), str(tmp_path / "a"), str(tmp_path / "a" / "b")]
    synced.clear()
    make_directory(tmp_path / "a" / "b" / "c")
    assert synced == []


def test_a_file_in_the_place_of_a_directory_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("mine")
    with pytest.raises(NotADirectoryError):
        make_directory(tmp_path / "a")
    with pytest.raises(NotADirectoryError):
        make_directory(tmp_path / "a" / "b")
    assert (tmp_path / "a").read_text() == "mine"


def test_a_write_that_fails_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    write_whole(path, b"old")

    def fail(fd: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="Input/output"):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
