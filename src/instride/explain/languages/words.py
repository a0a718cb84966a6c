"""Everything that a language says, wherever it is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from instride.explain.languages.compare import CompareWords
from instride.explain.languages.errors import ErrorWords
from instride.explain.languages.packs import PackWords
from instride.explain.languages.screen import ScreenWords
from instride.explain.languages.store import StoreWords


class Words(ScreenWords, CompareWords, ErrorWords, StoreWords, PackWords):
    """Findings and unknowns, the terminal, two runs side by side, the page, notes, errors,
    checkpoints, and packs."""

    page: ClassVar[Mapping[str, str]]
    """Texts of the HTML page, by the keys that its elements carry."""
