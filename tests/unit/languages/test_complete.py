"""Nothing is said in one language only: what is missing is named."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import pytest

from instride.cli.render.characters import PLAINER
from instride.explain.languages import LANGUAGES
from instride.explain.languages.words import Words
from instride.steps.model import Pauses, Sampling

ENGLISH = LANGUAGES["en"]
WORD = re.compile(r"(?<!\{)\b[a-z]{2,}\b(?!\})")
"""What is not the name of something to be filled in."""
PATTERN_END = " ?ms'"
"""Of a regular expression, which no language has words for."""


@pytest.fixture(params=[code for code in LANGUAGES if code != "en"])
def other(request: pytest.FixtureRequest) -> Words:
    return LANGUAGES[request.param]


def mappings(language: Words) -> dict[str, Mapping[str, object]]:
    """Everything that holds words by name."""
    return {
        name: value
        for name in public(language)
        if isinstance(value := getattr(language, name), Mapping)
    }


def words_of(language: Words) -> dict[str, str]:
    """Every word that is not built from numbers, by the mapping and the name in it."""
    return {
        name: text
        for mapping, words in mappings(language).items()
        for key, value in words.items()
        for name, text in leaves(f"{mapping}[{key}]", value)
    }


def leaves(name: str, value: object) -> Iterator[tuple[str, str]]:
    """Texts, also those that stand in tuples."""
    if isinstance(value, str):
        yield name, value
    elif isinstance(value, tuple):
        for number, each in enumerate(value, 1):
            yield from leaves(f"{name}.{number}", each)


def public(language: Words) -> set[str]:
    return {name for name in dir(type(language)) if not name.startswith("_")}


def test_every_method_and_mapping_of_english_is_there(other: Words) -> None:
    assert public(ENGLISH) - public(other) == set()


def test_nothing_is_there_that_english_does_not_have(other: Words) -> None:
    assert public(other) - public(ENGLISH) == set()


def test_no_text_is_missing(other: Words) -> None:
    assert sorted(words_of(ENGLISH).keys() - words_of(other).keys()) == []


def test_no_text_is_left_over(other: Words) -> None:
    assert sorted(words_of(other).keys() - words_of(ENGLISH).keys()) == []


def test_no_text_is_empty(other: Words) -> None:
    """A space between two texts may be nothing where words are not set apart."""
    theirs = words_of(other)
    assert [
        name for name, text in words_of(ENGLISH).items() if text.strip() and not theirs[name]
    ] == []


def test_no_long_text_is_still_english(other: Words) -> None:
    """A word may be the same; a sentence of several words is one that was forgotten."""
    theirs = words_of(other)
    forgotten = [
        name
        for name, text in words_of(ENGLISH).items()
        if len(WORD.findall(text)) > 2 and theirs.get(name) == text
    ]
    assert forgotten == []


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_way_of_printing_times_has_a_name(code: str) -> None:
    language = LANGUAGES[code]
    assert set(language.sampling_labels) == {each.value for each in Sampling}
    assert set(language.pause_labels) == {each.value for each in Pauses}


@pytest.mark.parametrize("code", ["en", "de", "fr"])
def test_no_word_has_a_letter_that_terminals_are_not_asked_for(code: str) -> None:
    """The terminal is given English unless it can show `letters`: there may be no others.

    Japanese has too many to list: a few stand for all.
    """
    words = words_of(LANGUAGES[code]).items()
    shown = [text for name, text in words if not name.startswith("page[")]
    used = {char for text in shown for char in text if char.isalpha() and not char.isascii()}
    assert used - set(LANGUAGES[code].letters) - set(PLAINER) == set()


def test_french_has_a_no_break_space_before_its_double_signs() -> None:
    wrong = [
        name
        for name, text in words_of(LANGUAGES["fr"]).items()
        for said in [text.replace(PATTERN_END, "")]
        if any(f" {sign}" in said for sign in (":", ";", "!", "?", "%", "\u00bb"))
    ]
    assert wrong == []


def test_japanese_has_its_own_punctuation() -> None:
    wrong = [
        name
        for name, text in words_of(LANGUAGES["ja"]).items()
        if not text.isascii() and (text.endswith(".") or "\u3002 " in text)
    ]
    assert wrong == []
