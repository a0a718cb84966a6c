"""Languages: each turns findings and labels into words; numbers are written as it writes them.

A language is put together from parts, one file each: the sentences of findings and unknowns, the
lines of the terminal, the comparison of two runs, the page, the notes of readers, errors,
checkpoints, and packs.
"""

from __future__ import annotations

from collections.abc import Mapping

from instride.explain.languages.compare_de import GermanCompare
from instride.explain.languages.compare_en import EnglishCompare
from instride.explain.languages.compare_fr import FrenchCompare
from instride.explain.languages.compare_ja import JapaneseCompare
from instride.explain.languages.de import German
from instride.explain.languages.en import English
from instride.explain.languages.errors_de import GermanErrors
from instride.explain.languages.errors_en import EnglishErrors
from instride.explain.languages.errors_fr import FrenchErrors
from instride.explain.languages.errors_ja import JapaneseErrors
from instride.explain.languages.fr import French
from instride.explain.languages.ja import Japanese
from instride.explain.languages.notes_de import GermanNotes
from instride.explain.languages.notes_en import EnglishNotes
from instride.explain.languages.notes_fr import FrenchNotes
from instride.explain.languages.notes_ja import JapaneseNotes
from instride.explain.languages.packs_de import GermanPacks
from instride.explain.languages.packs_en import EnglishPacks
from instride.explain.languages.packs_fr import FrenchPacks
from instride.explain.languages.packs_ja import JapanesePacks
from instride.explain.languages.page_de import GermanPage
from instride.explain.languages.page_en import EnglishPage
from instride.explain.languages.page_fr import FrenchPage
from instride.explain.languages.page_ja import JapanesePage
from instride.explain.languages.screen_de import GermanScreen
from instride.explain.languages.screen_en import EnglishScreen
from instride.explain.languages.screen_fr import FrenchScreen
from instride.explain.languages.screen_ja import JapaneseScreen
from instride.explain.languages.store_de import GermanStore
from instride.explain.languages.store_en import EnglishStore
from instride.explain.languages.store_fr import FrenchStore
from instride.explain.languages.store_ja import JapaneseStore
from instride.explain.languages.words import Words

DEFAULT = "en"
VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")
"""Of the environment; the first that is set decides, as for every program."""


class WholeEnglish(
    English,
    EnglishScreen,
    EnglishCompare,
    EnglishPage,
    EnglishNotes,
    EnglishErrors,
    EnglishStore,
    EnglishPacks,
    Words,
):
    """All that is said in English."""


class WholeGerman(
    German,
    GermanScreen,
    GermanCompare,
    GermanPage,
    GermanNotes,
    GermanErrors,
    GermanStore,
    GermanPacks,
    Words,
):
    """All that is said in German."""


class WholeFrench(
    French,
    FrenchScreen,
    FrenchCompare,
    FrenchPage,
    FrenchNotes,
    FrenchErrors,
    FrenchStore,
    FrenchPacks,
    Words,
):
    """All that is said in French."""


class WholeJapanese(
    Japanese,
    JapaneseScreen,
    JapaneseCompare,
    JapanesePage,
    JapaneseNotes,
    JapaneseErrors,
    JapaneseStore,
    JapanesePacks,
    Words,
):
    """All that is said in Japanese."""


LANGUAGES: dict[str, Words] = {
    language.code: language
    for language in (WholeEnglish(), WholeGerman(), WholeFrench(), WholeJapanese())
}


def choose(code: str | None, environ: Mapping[str, str]) -> Words:
    """The language asked for; else that of the environment; else English.

    Raises ValueError for a code that was asked for and is not there.
    """
    if code is not None:
        try:
            return LANGUAGES[_main_part(code)]
        except KeyError:
            raise ValueError(f"no language `{code}`; there are {', '.join(LANGUAGES)}") from None
    locale = next((environ[name] for name in VARIABLES if environ.get(name)), DEFAULT)
    return LANGUAGES.get(_main_part(locale), LANGUAGES[DEFAULT])


def _main_part(locale: str) -> str:
    """`de` of `de_AT.UTF-8@euro`, `de-AT` and `DE`."""
    for mark in ".@_-":
        locale = locale.partition(mark)[0]
    return locale.lower()
