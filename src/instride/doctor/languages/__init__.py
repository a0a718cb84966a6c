"""The words of doctor, in the languages of explain; numbers are written as explain writes them."""

from __future__ import annotations

from instride.doctor.languages import de, en, fr, ja

LANGUAGES = {words.code: words for words in (en.WORDS, de.WORDS, fr.WORDS, ja.WORDS)}
