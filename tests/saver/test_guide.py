"""The code in the guide runs as it stands there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from instride.store.directory import committed_in

pytestmark = pytest.mark.torch
GUIDE = Path(__file__).parents[2] / "docs/guides/stop-paying-for-checkpoints.md"


def test_the_three_lines_save_restore_and_prune(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    program = re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)[0]

    exec(compile(program, str(GUIDE), "exec"), {})
    first = [checkpoint.step for checkpoint in committed_in(tmp_path / "checkpoints")]
    exec(compile(program.replace("total = 1000", "total = 1001"), str(GUIDE), "exec"), {})
    second = [checkpoint.step for checkpoint in committed_in(tmp_path / "checkpoints")]

    assert first == [800, 900, 999]
    assert second == [900, 999, 1000]
