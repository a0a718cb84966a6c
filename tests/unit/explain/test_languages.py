"""Every language can say everything that can be found."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from instride.explain.advice import advise
from instride.explain.causes import CAUSES
from instride.explain.causes.contract import Rung
from instride.explain.causes.trainers import INSTEAD
from instride.explain.findings import findings
from instride.explain.languages import LANGUAGES
from instride.explain.languages.contract import Language
from instride.explain.ledger import build
from instride.explain.report import Confidence
from instride.explain.spans import Owner
from instride.explain.unknowns import unknowns
from instride.steps.notes import NoteId
from tests.unit.explain.making import found, gaps_in
from tests.unit.explain.pausing import Story
from tests.unit.explain.stories import ADVICE, FINDINGS, UNKNOWNS

HOLE = re.compile(r"\b(?:None|nan|inf)\b|[{}]|  |\.\.| \.| ,")
"""What a sentence has where a fact was missing."""
CONFIDENCES: tuple[Confidence, ...] = ("high", "medium", "low")


def each_of(told: dict[str, list[Story]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        ("name", "story"),
        [
            pytest.param(name, story, id=f"{name} {number}")
            for name, stories in told.items()
            for number, story in enumerate(stories, 1)
        ],
    )


@pytest.fixture(params=sorted(LANGUAGES))
def language(request: pytest.FixtureRequest) -> Language:
    return LANGUAGES[request.param]


def is_sentence(text: str) -> bool:
    """One that was filled in, and ends like one."""
    return bool(text) and text[-1] in ".\u3002" and not HOLE.search(text)


@each_of(FINDINGS)
def test_every_finding_can_be_found(name: str, story: Story) -> None:
    assert name in found(story())


@each_of(UNKNOWNS)
def test_every_unknown_can_be_found(name: str, story: Story) -> None:
    assert name in gaps_in(story())


@each_of(FINDINGS)
def test_every_finding_has_a_sentence_and_a_remedy(
    name: str, story: Story, language: Language
) -> None:
    told = [finding for finding in findings(build(story())) if finding.id == name]
    for finding in told:
        assert is_sentence(language.sentence(finding))
        assert language.remedy(finding)
    assert told


@each_of(UNKNOWNS)
def test_every_unknown_has_a_sentence(name: str, story: Story, language: Language) -> None:
    told = [each for each in unknowns(build(story())) if each.id == name]
    assert told
    if name != "note":
        assert all(is_sentence(language.unknown(each)) for each in told)


def test_no_language_has_words_for_what_is_never_found(language: Language) -> None:
    methods = dir(language)
    said = {each[4:].replace("_", "-") for each in methods if each.startswith("say_")}
    unknown = {each[8:].replace("_", "-") for each in methods if each.startswith("unknown_")}
    notes = {f"note-{each}" for each in get_args(NoteId)}
    assert said == set(FINDINGS)
    assert set(language.remedies) <= set(FINDINGS)
    assert unknown == set(UNKNOWNS) | notes


def test_every_cause_has_a_title_and_something_else_that_it_could_be(language: Language) -> None:
    assert set(language.titles) == set(CAUSES) == set(language.alternatives)
    for others in language.alternatives.values():
        assert others
        assert all(what and how for what, how in others)


def test_every_remedy_and_every_rung_has_words(language: Language) -> None:
    named = {remedy for cause in CAUSES.values() for remedy in cause.remedies}
    named |= {remedy for of in INSTEAD.values() for those in of.values() for remedy in those}
    assert set(language.cures) == named
    assert set(language.rungs) == {rung.value for rung in Rung}


def test_words_that_go_into_sentences_have_no_full_stop(language: Language) -> None:
    words = [*language.cures.values(), *language.rungs.values(), *language.titles.values()]
    words += [word for each in language.alternatives.values() for pair in each for word in pair]
    assert not [word for word in words if word[-1] in ".\u3002"]


@each_of(ADVICE)
def test_every_advice_has_a_sentence(name: str, story: Story, language: Language) -> None:
    told = [each for each in advise(build(story())) if each.id == name]
    assert told
    assert all(is_sentence(language.advice(each)) for each in told)


def test_every_owner_and_confidence_has_a_label(language: Language) -> None:
    assert {owner.value for owner in Owner} | set(CONFIDENCES) <= set(language.labels)


def test_languages_are_listed_by_their_code() -> None:
    assert {name: language.code for name, language in LANGUAGES.items()} == {
        name: name for name in LANGUAGES
    }
    assert "en" in LANGUAGES


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0.0 ms"),
        (0.0021, "2.1 ms"),
        (0.0994, "99.4 ms"),
        (0.25, "250 ms"),
        (0.9994, "999 ms"),
        (0.9996, "1.00 s"),
        (5.384, "5.38 s"),
        (9.996, "10.0 s"),
        (284.7, "284.7 s"),
        (600.0, "10 min 0 s"),
        (3599.7, "1 h 0 min"),
        (50_400.0, "14 h 0 min"),
        (200_000.0, "2 d 7 h"),
    ],
)
def test_a_duration_has_the_unit_that_a_person_would_choose(seconds: float, text: str) -> None:
    assert LANGUAGES["en"].seconds(seconds) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0, "0.0 %"), (0.0005, "0.05 %"), (0.0123, "1.2 %"), (0.0996, "10 %"), (0.43, "43 %")],
)
def test_a_share_has_as_many_digits_as_are_of_use(share: float, text: str) -> None:
    assert LANGUAGES["en"].percent(share) == text


@pytest.mark.parametrize(("value", "text"), [(3.18, "3.2"), (9.96, "10"), (19.4, "19")])
def test_a_factor_is_rounded_and_has_its_sign(value: float, text: str) -> None:
    assert LANGUAGES["en"].factor(value) == text + "\N{MULTIPLICATION SIGN}"


def test_an_english_aftermath_says_what_happened_and_what_it_cost() -> None:
    sentence = LANGUAGES["en"].sentence(found(FINDINGS["aftermath"][0]())["aftermath"])
    assert "step 301" in sentence
    assert "20 steps" in sentence
    assert "40.0 s" in sentence
    assert "four times the save itself" in sentence
