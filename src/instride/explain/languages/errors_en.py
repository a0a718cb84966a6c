"""English: the errors say it themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from instride.explain.languages.errors import ErrorWords, english_failures


class EnglishErrors(ErrorWords):
    failures: ClassVar[Mapping[str, str]] = english_failures()
