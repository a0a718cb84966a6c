"""Whole screens, in every language, compared with files that people have looked at.

After a change that was wanted, write them anew and look at what has changed:

    UPDATE_SCREENS=1 pytest tests/unit/cli/test_screens.py && git diff tests/unit/cli/screens
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from rich.cells import cell_len

from instride.explain.languages import LANGUAGES
from tests.unit.cli.screen_logs import LOGS
from tests.unit.cli.showing import COLUMNS, explained, shown

SCREENS = Path(__file__).parent / "screens"
IS_WRITTEN_ANEW = "UPDATE_SCREENS" in os.environ


@pytest.mark.parametrize("code", sorted(LANGUAGES))
@pytest.mark.parametrize("name", sorted(LOGS))
def test_a_screen_is_as_it_was_when_somebody_looked_at_it(
    name: str, code: str, tmp_path: Path
) -> None:
    log = tmp_path / "train.log"
    log.write_text(LOGS[name](), encoding="utf-8")
    screen = shown(explained(log), LANGUAGES[code])
    kept = SCREENS / f"{name}.{code}.txt"
    if IS_WRITTEN_ANEW:
        kept.write_text(screen, encoding="utf-8")
    assert screen == kept.read_text(encoding="utf-8")
    assert [line for line in screen.splitlines() if cell_len(line) > COLUMNS] == []


def test_every_screen_that_is_kept_is_compared() -> None:
    kept = {path.name for path in SCREENS.iterdir()}
    assert kept == {f"{name}.{code}.txt" for name in LOGS for code in LANGUAGES}
