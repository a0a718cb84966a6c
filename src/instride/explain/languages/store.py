"""What a language must be able to say of a directory of checkpoints."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from instride.explain.languages.contract import Language
from instride.explain.languages.screen import Around

AGES = (("d", 86_400), ("h", 3600), ("min", 60))


class StoreWords(Language, ABC):
    """Heads of columns, marks of checkpoints, and the lines of `list`, `verify`, `prune` and
    `export`. Names are put in as they are; a count is never zero unless a method says so."""

    store_phrases: ClassVar[Mapping[str, str]]
    """`step`, `size`, `age`, `metric`, `paid` and `durable` are heads of columns; `newest`,
    `latest`, `whole`, `foreign`, `damaged`, `unreadable`, `baseless`, `kept`, `gone` and `going`
    are cells; `nobody` says that no training saves here; `ends` that not every byte was looked at;
    `empty` that there is no checkpoint; `next` stands before the command to type next, and
    `next.*` behind it."""
    store_units: ClassVar[Mapping[str, str]]
    """Units of an age, as they follow a number: `s`, `min`, `h` and `d`."""

    def store_next(self, command: str, note: str) -> Around:
        """The command to type next, and what it does."""
        return Around(self.store_phrases["next"], command, f"   {self.store_phrases[note]}")

    def store_age(self, seconds: float) -> str:
        """How long ago, in one unit: nobody needs the seconds of yesterday."""
        for unit, length_s in AGES:
            if seconds >= 2 * length_s:
                return self.number(seconds // length_s) + self.store_units[unit]
        return self.number(seconds) + self.store_units["s"]

    @abstractmethod
    def store_contents(self, count: int, num_bytes: int) -> str:
        """So many checkpoints, which may be none, and what they take."""

    @abstractmethod
    def store_owner(self, host: str, pid: int, is_training: bool, is_here: bool) -> str:
        """Whose the directory is now: a training, or a process that finishes for one; on another
        machine, where it may be gone, the last training that is known."""

    @abstractmethod
    def store_leftovers(self, count: int, num_bytes: int, is_owned: bool) -> str:
        """Unfinished files: being written, or left by a crash."""

    @abstractmethod
    def store_strays(self, count: int, num_bytes: int) -> str:
        """Manifests of checkpoints that are gone."""

    @abstractmethod
    def store_verdict(self, num_whole: int, num_bytes: int) -> str:
        """So many are what was written, to the last byte; so much was read."""

    @abstractmethod
    def store_not_compared(self, count: int) -> str:
        """So many have no manifest to compare them with."""

    @abstractmethod
    def store_damage(self, num_damaged: int) -> str:
        """So many are damaged."""

    @abstractmethod
    def store_unreadable(self, count: int) -> str:
        """So many may not be read."""

    @abstractmethod
    def store_pieces(self, why: str, num_damaged: int, num_pieces: int) -> str:
        """Why a checkpoint is damaged, and how much of it."""

    @abstractmethod
    def store_pruned(self, count: int, num_bytes: int, num_kept: int, is_dry: bool) -> str:
        """So many are gone, or would go, which may be none; so many stay."""

    @abstractmethod
    def store_base_of(self, steps: str, num_others: int) -> str:
        """It stays since others that stay are nothing without it; some of their steps."""

    @abstractmethod
    def store_foreign(self, count: int) -> str:
        """So many files have no manifest, and are left alone: they are somebody's, or copies of
        which the manifests were left behind."""

    @abstractmethod
    def store_exported(self, count: int, num_bytes: int, path: str) -> str:
        """So many tensors were written."""

    @abstractmethod
    def store_copied(self, names: str, num_others: int) -> str:
        """Tensors that shared memory were written one by one; some of them are named."""

    @abstractmethod
    def store_left_out(self, names: str, num_others: int) -> str:
        """Values that are no tensors were left out; some of them are named."""
