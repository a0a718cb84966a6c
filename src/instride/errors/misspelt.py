"""Misspelt names."""

from __future__ import annotations

from collections.abc import Iterable

ALIKE = 0.7
"""From which a name is taken for another one, misspelt; 1.0 is equal."""


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The name that was meant, if one is that much alike; dashes and case do not count."""
    import difflib

    bare = {_bare(each): each for each in names}
    found = difflib.get_close_matches(_bare(name), bare, n=1, cutoff=ALIKE)
    return bare[found[0]] if found else None


def _bare(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")
