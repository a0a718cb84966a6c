"""Every language says all that two runs can differ in."""

from __future__ import annotations

from itertools import product

import pytest

from instride.explain.comparison_report import comparison_report
from instride.explain.languages import LANGUAGES
from instride.explain.languages.words import Words
from instride.explain.pace import PER_STEP
from instride.explain.spans import Owner
from instride.steps.model import Pauses, Run, Sampling
from tests.unit.explain.making import Training
from tests.unit.explain.pairs import EVAL, Compare, foreign, made, plain
from tests.unit.explain.stories import FINDINGS, UNKNOWNS

ENGLISH = LANGUAGES["en"]


@pytest.fixture(params=sorted(LANGUAGES))
def language(request: pytest.FixtureRequest) -> Words:
    return LANGUAGES[request.param]


def is_said(text: str) -> bool:
    holes = ("None", "nan", "inf", "{", "}", "  ", "..", " .", " ,")
    return bool(text) and text[-1] in ".\u3002" and not any(hole in text for hole in holes)


def situations() -> list[tuple[Run, Run]]:
    """Pairs that between them make every sentence necessary."""
    runs = [
        made(600, every=200, pause_s=50.0, slow=40),
        made(600, 1.3, kind=EVAL, pause_s=9.0),
        made(150, pause_s=20.0),
        made(900, training=Training(Sampling.EVERY_KTH, every=10, has_wall=True)),
        made(pause_s=20.0, training=Training(pauses=Pauses.NONE)),
        plain(90, first_s=70.0),
        FINDINGS["restart"][1](),
        FINDINGS["data-chronic"][0](),
        FINDINGS["slow-zone"][0](),
        UNKNOWNS["joint"][0](),
        foreign(),
    ]
    return list(product(runs, runs))


def test_every_language_says_everything(language: Words, compared: Compare) -> None:
    told = set()
    for before, after in situations():
        comparison = compared(before, after)
        answer = comparison_report(comparison, language)
        told |= {each.id for each in comparison.caveats}
        assert is_said(answer.answer), answer.answer
        assert all(is_said(each) for each in answer.not_comparable), answer.not_comparable
        assert all(
            language.compare_finding(each.before_s, each.after_s, each.is_once)
            for each in comparison.findings
        )
    rough = {"joint", "single", "accidents", "work"}
    assert told == {"dialects", "sampling", "wall", "data", "hidden", "short"} | rough


def test_every_language_has_all_words(language: Words) -> None:
    assert language.compare_phrases.keys() == ENGLISH.compare_phrases.keys()
    assert language.compare_changes.keys() == {"gone", "new", "cheaper", "dearer"}
    assert language.compare_pauses.keys() == {
        each.value for each in PER_STEP if each is not Owner.COMPUTE
    }
    names = {"compute", "eval", "save", "aftermath", "save+aftermath", "data", "unknown"}
    joint = {"eval+save", "eval+save+aftermath"}
    assert language.compare_groups.keys() == names | joint
