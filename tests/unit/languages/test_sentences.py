"""Every language tells the same facts: a number that English tells is in all of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from instride.explain.findings import findings
from instride.explain.languages import LANGUAGES
from instride.explain.languages.contract import Language
from instride.explain.languages.facts import Facts
from instride.explain.languages.words import Words
from instride.explain.ledger import build
from instride.explain.unknowns import unknowns
from tests.unit.explain.pausing import Story
from tests.unit.explain.stories import FINDINGS, UNKNOWNS

ENGLISH = LANGUAGES["en"]


@pytest.fixture(params=[code for code in LANGUAGES if code != "en"])
def other(request: pytest.FixtureRequest) -> Words:
    return LANGUAGES[request.param]


def each_of(told: dict[str, list[Story]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        ("name", "story"),
        [
            pytest.param(name, story, id=f"{name} {number}")
            for name, stories in told.items()
            for number, story in enumerate(stories, 1)
        ],
    )


def ways(language: Language, value: float) -> list[str]:
    """How a number may be written, the longest way first."""
    written = [language.seconds(value), language.percent(value)] if value >= 0 else []
    digits = 1 if value < 9.95 else 0
    plain = str(value) if isinstance(value, int) else ""
    return [*written, language.number(value, digits), language.number(value), plain]


def untold(english: str, theirs: str, facts: Facts, language: Language) -> Iterator[str]:
    """Facts that are in the English sentence, and in no way in the other one."""
    for key, value in facts.items():
        if not isinstance(value, int | float) or value == 1:
            continue
        is_told = any(way and way in english for way in ways(ENGLISH, value))
        if is_told and not any(way and way in theirs for way in ways(language, value)):
            yield key


@each_of(FINDINGS)
def test_a_finding_has_the_same_numbers_in_every_language(
    name: str, story: Story, other: Words
) -> None:
    told = [finding for finding in findings(build(story())) if finding.id == name]
    assert told
    for finding in told:
        english, theirs = ENGLISH.sentence(finding), other.sentence(finding)
        facts = {**finding.facts, "cost_s": finding.cost_s}
        assert list(untold(english, theirs, facts, other)) == [], (english, theirs)


@each_of(UNKNOWNS)
def test_an_unknown_has_the_same_numbers_in_every_language(
    name: str, story: Story, other: Words
) -> None:
    told = [each for each in unknowns(build(story())) if each.id == name]
    assert told
    for each in told:
        english, theirs = ENGLISH.unknown(each), other.unknown(each)
        assert list(untold(english, theirs, each.facts, other)) == [], (english, theirs)


@each_of(FINDINGS)
def test_no_sentence_is_still_english(name: str, story: Story, other: Words) -> None:
    for finding in findings(build(story())):
        words = set(other.sentence(finding).lower().split())
        assert not words & {"the", "steps", "took", "and", "each"}


@each_of(FINDINGS)
def test_french_spaces_cannot_break_before_double_signs(name: str, story: Story) -> None:
    for finding in findings(build(story())):
        sentence = LANGUAGES["fr"].sentence(finding)
        assert not any(f" {sign}" in sentence for sign in ":;!?%"), sentence
