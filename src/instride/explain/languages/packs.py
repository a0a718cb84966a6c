"""What a language must be able to say of packs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from instride.explain.languages.contract import Language


class PackWords(Language, ABC):
    """The lines of `pack` and `unpack`. Names are put in as they are."""

    pack_kept: ClassVar[str]
    """The original stays, since `latest` points to it."""

    @abstractmethod
    def pack_made(self, original_bytes: int, pack_bytes: int) -> str:
        """From so much to so much, and the share that is left."""

    @abstractmethod
    def pack_base(self, base: str, same_bytes: int) -> str:
        """What it was packed against, and how much of that has not changed, which may be
        nothing."""

    @abstractmethod
    def pack_mark(self, ratio: float, base: str | None) -> str:
        """In a list: a pack, what it is of its original, and what it was packed against."""

    @abstractmethod
    def pack_undone(self, path: str, num_bytes: int) -> str:
        """The original was written again, byte for byte."""
