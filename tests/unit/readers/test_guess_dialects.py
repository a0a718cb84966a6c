"""Logs of trainers that nobody has heard of: what is made of each of them."""

from __future__ import annotations

from itertools import pairwise
from math import isnan

import pytest

from instride.explain.languages import LANGUAGES
from tests.unit.readers.guessing import read
from tests.unit.readers.styles import SECONDS, Style, rows
from tests.unit.readers.styles_of_lines import LINES
from tests.unit.readers.styles_of_records import RECORDS


def text_of(style: Style) -> list[str]:
    lines = [style.line(row) for row in rows(steps_each=style.every)]
    return [style.header, *lines] if style.header else lines


@pytest.mark.parametrize("style", [*LINES, *RECORDS], ids=lambda style: style.name)
def test_steps_and_times_of_an_unknown_log_are_found(style: Style) -> None:
    run = read(text_of(style))
    assert list(run.step) == [style.step(row.n) for row in rows()]
    if "seconds" in style.tells:
        assert list(run.seconds) == pytest.approx(SECONDS, abs=style.within)
    if "wall" in style.tells:
        between = [after - before for before, after in pairwise(run.wall)]
        assert between == pytest.approx(SECONDS[1:], abs=style.within)
        assert all(isnan(seconds) for seconds in run.seconds)
    assert run.events == [event for event in run.events if event.kind == "epoch"]


@pytest.mark.parametrize("style", [*LINES, *RECORDS], ids=lambda style: style.name)
def test_the_user_is_told_what_was_taken_for_what(style: Style) -> None:
    run = read(text_of(style))
    (note,) = run.notes
    assert style.words in LANGUAGES["en"].unknown_note_guessed(note.facts)
    assert run.dialect.name == "guess"
    assert run.dialect.title == "unknown trainer (guessed)"
