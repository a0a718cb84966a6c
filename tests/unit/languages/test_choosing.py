"""Which language is spoken: the one asked for, else that of the environment, else English."""

from __future__ import annotations

import pytest

from instride.explain.languages import LANGUAGES, choose


def test_there_are_four_languages_by_their_codes() -> None:
    assert list(LANGUAGES) == ["en", "de", "fr", "ja"]
    assert all(language.code == code for code, language in LANGUAGES.items())


@pytest.mark.parametrize("code", [*LANGUAGES, "DE", "fr-CA", "ja_JP"])
def test_the_language_asked_for_is_spoken_whatever_the_environment(code: str) -> None:
    assert choose(code, {"LC_ALL": "fr_FR.UTF-8", "LANG": "de"}).code == code[:2].lower()


@pytest.mark.parametrize("code", ["", "xx", "german", "d"])
def test_a_language_that_is_not_there_is_refused_by_name(code: str) -> None:
    with pytest.raises(ValueError, match=f"no language `{code}`; there are en, de, fr, ja"):
        choose(code, {"LANG": "de_DE.UTF-8"})


@pytest.mark.parametrize(
    ("environ", "code"),
    [
        ({}, "en"),
        ({"LANG": "de_AT.UTF-8@euro"}, "de"),
        ({"LANG": "fr"}, "fr"),
        ({"LANG": "ja_JP.eucJP"}, "ja"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "POSIX"}, "en"),
        ({"LANG": "pt_BR.UTF-8"}, "en"),
        ({"LANG": "de_DE", "LC_MESSAGES": "fr_FR"}, "fr"),
        ({"LANG": "de_DE", "LC_MESSAGES": "fr_FR", "LC_ALL": "ja_JP"}, "ja"),
        ({"LANG": "de_DE", "LC_ALL": "C"}, "en"),
        ({"LANG": "de_DE", "LC_ALL": ""}, "de"),
        ({"LC_TIME": "de_DE"}, "en"),
    ],
)
def test_the_environment_decides_as_for_other_programs(environ: dict[str, str], code: str) -> None:
    assert choose(None, environ).code == code
