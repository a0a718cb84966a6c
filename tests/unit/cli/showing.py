"""Prints a screen into a text."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console

from instride.cli.render.text import print_explanation
from instride.explain.explaining import Explanation, explain
from instride.explain.languages import LANGUAGES
from instride.explain.languages.screen import ScreenWords
from instride.steps.choosing import choose_reader
from instride.steps.model import Run
from instride.steps.reading import read_with
from instride.steps.source import Source

COLUMNS = 80


def explained(log: Path) -> Explanation:
    """The explanation of a log, which is called by its name alone."""
    source = Source(str(log), log.name)
    reader = choose_reader([source], None, [])
    return explain(read_with(reader, [source]), [source])


def explained_run(run: Run, folder: Path) -> Explanation:
    """The explanation of a run that comes from no log; its evidence has no text."""
    log = folder / "made-up.log"
    log.write_text("step 1: 1 s\n")
    return explain(run, [Source(str(log), log.name)])


def shown(
    explanation: Explanation,
    language: ScreenWords = LANGUAGES["en"],
    *,
    width: int = COLUMNS,
    encoding: str = "utf-8",
    is_following: bool = False,
) -> str:
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="\n")
    console = Console(file=out, width=width, highlight=False, color_system=None)
    print_explanation(explanation, console, is_following=is_following, language=language)
    out.flush()
    assert isinstance(out.buffer, io.BytesIO)
    return out.buffer.getvalue().decode(encoding)
