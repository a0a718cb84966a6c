"""Errors are told in every language: a class without a translation fails here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from string import Formatter

import pytest

import instride
from instride.errors import InstrideError, NoStepsError, NoTimesError
from instride.explain.languages import LANGUAGES
from instride.reasons import REASONS, REFUSALS, Reason
from tests.unit.test_errors import CLASSES, EXAMPLES

ENGLISH = LANGUAGES["en"].failures
SOURCE = Path(instride.__file__).parent
OTHERS = [code for code in LANGUAGES if code != "en"]
CODE = re.compile(r"`[^`]*`|--pattern '.*?ms'")
"""What is to be typed, in every language the same."""


def gaps(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize(
    ("call", "texts"),
    [(r'\bReason\(\s*"([^"]+)"', REASONS), (r'\bRefusal\(\s*"([^"]+)"', REFUSALS)],
    ids=["reasons", "refusals"],
)
def test_every_name_in_the_code_has_a_text_and_every_text_is_used(
    call: str, texts: Mapping[str, str]
) -> None:
    code = "".join(path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py"))
    named = set(re.findall(call, code))
    assert named - texts.keys() == set()
    unused = [name for name in texts if f'"{name}"' not in code.replace(f'"{name}": ', "")]
    # Those are made from the number of an error.
    assert [name for name in unused if not name.startswith("os.")] == []


def test_english_has_the_texts_of_every_class() -> None:
    named = {f"{each.__name__}.{name}" for each in CLASSES for name in each.texts}
    assert named | set(REFUSALS) <= set(ENGLISH)


@pytest.mark.parametrize("code", OTHERS)
def test_every_text_is_translated(code: str) -> None:
    assert sorted(set(ENGLISH) ^ set(LANGUAGES[code].failures)) == []


@pytest.mark.parametrize("code", OTHERS)
def test_a_translation_tells_the_same_facts(code: str) -> None:
    theirs = LANGUAGES[code].failures
    assert [name for name in ENGLISH if gaps(ENGLISH[name]) != gaps(theirs[name])] == []


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize("name", [name for name in ENGLISH if ".hint" in name])
def test_a_hint_has_the_same_commands(code: str, name: str) -> None:
    english, theirs = CODE.findall(ENGLISH[name]), CODE.findall(LANGUAGES[code].failures[name])
    assert sorted(english) == sorted(theirs)


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize(("error", "value"), EXAMPLES)
def test_a_complaint_has_the_value_and_no_gap(error: InstrideError, value: str, code: str) -> None:
    message, hint = LANGUAGES[code].complaint(error)
    assert value in message
    assert hint
    assert "{" not in message.replace(value, "")


def test_what_an_error_says_itself_is_english() -> None:
    error = NoStepsError("a.log", Reason("dialects", {"count": 40}))
    assert LANGUAGES["en"].complaint(error) == (str(error), error.hint)


def test_reasons_and_numbers_are_told_in_the_language() -> None:
    error = NoTimesError("a.log", 1234, Reason("only-evals", {"evals_s": 12.5}))
    message, _ = LANGUAGES["de"].complaint(error)
    assert "1.234 Schritte" in message
    assert "12,5\u00a0s" in message


def test_the_title_of_a_trainer_is_told_in_the_language() -> None:
    error = NoStepsError("a.log", Reason("lines", {"title": "your pattern"}))
    assert "eigenes Muster" in LANGUAGES["de"].complaint(error)[0]
