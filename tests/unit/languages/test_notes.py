"""Notes of readers are sentences in every language, with all that they are about."""

from __future__ import annotations

from typing import get_args

import pytest

from instride.explain.languages import LANGUAGES
from instride.explain.languages.words import Words
from instride.explain.unknowns import Unknown
from instride.steps.notes import Facts, Note, NoteId
from instride.steps.readers import READERS

LINE: Facts = {"step": "iter", "step_at": "after"}
GUESSES: dict[str, Facts] = {
    "no time": LINE,
    "a duration": {**LINE, "time": "dt", "time_at": "after", "unit": "milliseconds", "between": 0},
    "of all between": {**LINE, "time": "dt", "time_at": "after", "unit": "seconds", "between": 1},
    "a rate": {**LINE, "time": "it/s", "time_at": "before", "unit": "rate", "between": 0},
    "epochs": {**LINE, "epoch": "ep", "epoch_at": "after", "clock": "dated"},
    "epochs on lines": {**LINE, "epoch_at": "lines", "clock": "undated"},
    "no name": {"step": None, "step_at": "nameless", "elapsed": "since", "elapsed_at": "after"},
    "a table": {
        "step": "iter",
        "step_at": "column",
        "stamp": "at",
        "stamp_at": "column",
        "data": "wait",
        "data_at": "column",
    },
}
TRAINERS: Facts = {"trainer": "nanoGPT", "other": "DeepSpeed"}
NOTES: list[Note] = [
    *(Note("guessed", facts) for facts in GUESSES.values()),
    Note("counted-dictionaries", {"every": 1}),
    Note("counted-dictionaries", {"every": 2500}),
    Note("micro-batches"),
    Note("long-lines", {"length": 20_000}),
    Note("no-timestamp", {"text": "half past"}),
    Note("damaged-document"),
    Note("batch-size", {"size": 1024}),
    Note("no-batch-size"),
    Note("several-bars", {"name": "loss 2.1"}),
    Note("several-bars", {"name": None}),
    Note("bar-an-epoch"),
    Note("several-jobs", {"kept": 1200, "records": 3400}),
    Note("first-job"),
    Note("cut-off", {"name": "a.log.gz"}),
    Note("empty-file", {"name": "a.log"}),
    Note("same-steps", {"kept": "a.log", "left_out": "b.log, c.log", "more": 0}),
    Note("same-steps", {"kept": "a.log", "left_out": "b.log, c.log", "more": 1}),
    Note("same-steps", {"kept": "a.log", "left_out": "b.log, c.log", "more": 7}),
    Note("other-run", {"before": "a.log", "after": "b.log", "step": 5, "command": "compare"}),
    Note("other-trainer", {**TRAINERS, "left_out": "b.log", "more": 0, "command": "compare"}),
    Note("other-trainer", {**TRAINERS, "left_out": "b.log", "more": 7, "command": "compare"}),
    Note("failed-saves", {"count": 1, "name": "step_00000100.pt", "why": "No space left"}),
    Note("failed-saves", {"count": 1200, "name": "step_00000100.pt", "why": "No space left"}),
    Note("counted-beats"),
]
HOW = ("_at", "unit", "between", "clock")
"""Facts that choose words instead of being told."""


@pytest.fixture(params=LANGUAGES)
def say(request: pytest.FixtureRequest) -> Words:
    return LANGUAGES[request.param]


def sentence(say: Words, note: Note) -> str:
    return say.unknown(Unknown(f"note-{note.id}", note.facts))


def told(say: Words, note: Note) -> list[str]:
    """What must be in the sentence."""
    facts = [value for name, value in note.facts.items() if not name.endswith(HOW)]
    numbers = [say.number(value) for value in facts if isinstance(value, int) and value > 1]
    return numbers + [value for value in facts if isinstance(value, str)]


def test_every_note_has_an_example_here() -> None:
    assert {note.id for note in NOTES} == set(get_args(NoteId))


@pytest.mark.parametrize("note", NOTES, ids=str)
def test_a_note_is_a_sentence_with_its_facts(say: Words, note: Note) -> None:
    text = sentence(say, note)
    assert text[-1] in ".\u3002"
    assert [fact for fact in told(say, note) if fact not in text] == []


def test_notes_that_differ_are_told_apart(say: Words) -> None:
    assert len({sentence(say, note) for note in NOTES}) == len(NOTES)


@pytest.mark.parametrize("note", NOTES, ids=str)
def test_no_note_is_still_english(note: Note) -> None:
    english = sentence(LANGUAGES["en"], note)
    others = [sentence(LANGUAGES[code], note) for code in LANGUAGES if code != "en"]
    assert len({english, *others}) == len(LANGUAGES)


def test_french_notes_cannot_break_before_double_signs() -> None:
    told = [sentence(LANGUAGES["fr"], note) for note in NOTES]
    assert [text for text in told if any(f" {sign}" in text for sign in ":;!?")] == []


def test_every_title_that_is_translated_is_one_of_a_dialect() -> None:
    titles = {reader.dialect.title for reader in READERS}
    titles |= {"unknown trainer (guessed)", "your pattern"}
    assert set(LANGUAGES["en"].trainers) - titles == set()
    assert all(title == name for title, name in LANGUAGES["en"].trainers.items())
    assert LANGUAGES["de"].trainer("nanoGPT") == "nanoGPT"
