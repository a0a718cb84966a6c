"""Configuration files as entries: the path of a key, its value and its line."""

from __future__ import annotations

from functools import cached_property

import msgspec

from instride.doctor.repository.files import TextFile, Why

Value = str | int | float | bool | None


class Entry(msgspec.Struct, frozen=True):
    path: tuple[str, ...]
    """The keys from the top; the index of a list is a key, too."""
    value: Value
    line: int
    """From 1."""

    @property
    def key(self) -> str:
        """The last key that is a name, not an index."""
        names = [part for part in self.path if not part.isdigit()]
        return names[-1] if names else ""


class ConfigFile(TextFile):
    """Read when something first asks for its entries; one that does not parse has none."""

    def __init__(self, path: str, text: str, kind: str) -> None:
        super().__init__(path, text)
        self.kind = kind
        """`yaml`, `toml`, `json` or `ini`."""

    @cached_property
    def _parsed(self) -> tuple[list[Entry], Why | None]:
        from instride.doctor.repository.entries import read_entries  # a parser only when needed

        try:
            return read_entries(self.kind, self.text), None
        except (ValueError, RecursionError, MemoryError):
            return [], Why.BROKEN

    @property
    def entries(self) -> list[Entry]:
        return self._parsed[0]

    @property
    def broken(self) -> Why | None:
        parsed: tuple[object, Why | None] | None = self.__dict__.get("_parsed")
        return parsed[1] if parsed else None
