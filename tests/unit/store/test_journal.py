"""Lines that are appended to a journal, also when the disk is full."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from instride.store.journal import append


def test_of_a_batch_that_did_not_fit_only_whole_lines_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal.jsonl"
    assert append(path, [{"n": 1}])
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: write(fd, data[:12]))
    assert not append(path, [{"n": 2}, {"n": 3}])
    monkeypatch.undo()
    assert append(path, [{"n": 4}])
    assert [json.loads(line)["n"] for line in path.read_text().splitlines()] == [1, 2, 4]


def test_where_nothing_can_be_written_nothing_is_raised(tmp_path: Path) -> None:
    assert not append(tmp_path / "gone" / "journal.jsonl", [{"n": 1}])
