"""Every rule and every unknown is said in all languages, about the same facts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import instride.doctor
from instride.doctor.catalogue import CATALOGUE
from instride.doctor.languages import LANGUAGES
from instride.doctor.languages.en import WORDINGS
from instride.doctor.languages.template import names_of
from instride.doctor.repository import Why
from instride.doctor.rules import CHECKS

RULES = [rule.id for rule in CATALOGUE]
ENGLISH = LANGUAGES["en"]
OTHERS = [words for words in LANGUAGES.values() if words is not ENGLISH]


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_language_has_all_rules_and_no_other(code: str) -> None:
    assert set(LANGUAGES[code].sayings) == set(RULES)


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_language_has_the_unknowns_and_phrases_of_english(code: str) -> None:
    words = LANGUAGES[code]
    for texts, english in (
        (words.unknowns, ENGLISH.unknowns),
        (words.phrases, ENGLISH.phrases),
        (words.certainties, ENGLISH.certainties),
    ):
        assert {name: names_of(text) for name, text in texts.items()} == {
            name: names_of(text) for name, text in english.items()
        }


@pytest.mark.parametrize("rule", RULES)
def test_all_languages_want_the_same_facts_of_a_rule(rule: str) -> None:
    wanted = names_of(ENGLISH.sayings[rule].sentence)
    for words in OTHERS:
        assert names_of(words.sayings[rule].sentence) == wanted, words.code
        assert names_of(words.sayings[rule].fix) == names_of(ENGLISH.sayings[rule].fix), words.code


@pytest.mark.parametrize("rule", RULES)
def test_a_translation_is_not_the_english_text(rule: str) -> None:
    for words in OTHERS:
        assert words.sayings[rule].sentence != ENGLISH.sayings[rule].sentence, words.code
        assert words.sayings[rule].fix != ENGLISH.sayings[rule].fix, words.code


@pytest.mark.parametrize("rule", RULES)
def test_titles_are_no_sentences_and_the_rest_is(rule: str) -> None:
    wording = WORDINGS[rule]
    assert not wording.title.endswith(".")
    assert not names_of(wording.title)
    for text in (wording.sentence, wording.fix, wording.why, wording.detected):
        assert text.endswith((".", "?")), text
    assert not names_of(wording.why) | names_of(wording.detected)


@pytest.mark.parametrize("code", LANGUAGES)
def test_every_reason_for_not_reading_a_file_has_words(code: str) -> None:
    assert {f"skipped-{why}" for why in Why} <= set(LANGUAGES[code].unknowns)


def test_every_rule_about_repositories_has_a_check() -> None:
    assert set(CHECKS) == {rule.id for rule in CATALOGUE if rule.about == "repository"}


def test_everything_that_the_code_says_is_not_known_has_words() -> None:
    sources = Path(instride.doctor.__file__).parent.rglob("*.py")
    said = {
        name
        for source in sources
        for name in re.findall(r'\bUnknown\(\s*"([\w-]+)"', source.read_text(encoding="utf-8"))
    }
    assert {"no-repository", "silent-filesystem"} <= said
    assert said <= set(ENGLISH.unknowns)
