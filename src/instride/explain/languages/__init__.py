"""Languages: each turns findings and labels into words; numbers are written as it writes them."""

from __future__ import annotations

from instride.explain.languages.contract import Language
from instride.explain.languages.en import English

LANGUAGES: dict[str, Language] = {"en": English()}
