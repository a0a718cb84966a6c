"""Diffs apply, whatever the end of the file looks like."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from instride.doctor.diffs import diff
from instride.doctor.model import FixKind
from instride.doctor.repository import PythonFile, TextFile


@pytest.mark.skipif(shutil.which("git") is None, reason="git says whether a diff applies")
@pytest.mark.parametrize("text", ["a\nb\nc\n", "a\nb\nc", "a\n\nb\n\n\n", "a"])
@pytest.mark.parametrize("new", [["x"], ["x", "y"], []])
def test_a_changed_last_line_applies_with_and_without_an_end(
    tmp_path: Path, text: str, new: list[str]
) -> None:
    (tmp_path / "a.txt").write_text(text)
    file = TextFile("a.txt", text)
    last = max(number for number, line in enumerate(file.lines, 1) if line)
    fix = diff(file, {last: new})
    assert fix is not None
    assert fix.kind is FixKind.DIFF
    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=fix.text.encode(), check=True)
    changed = tmp_path / "a.txt"
    left = changed.read_text().split("\n") if changed.exists() else []
    assert file.lines[last - 1] not in left
    assert all(line in left for line in new)


def test_a_change_that_breaks_the_file_is_no_fix() -> None:
    file = PythonFile("a.py", "if x:\n    f()\n")
    assert diff(file, {2: []}) is None
    assert diff(file, {2: ["    pass"]}) is not None


def test_no_change_is_no_fix() -> None:
    assert diff(TextFile("a.txt", "a\n"), {1: ["a"]}) is None
