"""What the agent knows of a directory from one look, and one start, to the next.

Which checkpoint is newest is told by when it came, not by clocks, which a copy changes, nor by
steps, which begin again after a return to an earlier one. Those that were there before the agent
are taken in the order of their steps.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import cached_property
from pathlib import Path

import msgspec

from instride.agent.looking import Look, Original
from instride.agent.wholeness import Identity
from instride.places import PRIVATE
from instride.store.atomic import write_whole

FILE = "agent.json"


class Known(msgspec.Struct, frozen=True):
    """An original that was whole when it was last looked at."""

    identity: Identity
    serial: int
    is_gone: bool = False
    """Deleted by us, or by others: what was made of it may still be there."""


class _Memory(msgspec.Struct):
    files: dict[str, Known] = {}
    next_serial: int = 1


class Memory:
    def __init__(self, directory: Path) -> None:
        self._path = directory / PRIVATE / FILE
        self._is_changed = False

    @cached_property
    def _memory(self) -> _Memory:
        """Read when it is first needed: where that is refused, by a directory that cannot be looked
        at either, it is tried again."""
        return _read(self._path)

    @property
    def files(self) -> Mapping[str, Known]:
        return self._memory.files

    def serial_of(self, name: str) -> int:
        return self._memory.files[name].serial

    def take_in(self, whole: Collection[Original], seen: Look) -> None:
        """Number what is new, or was written anew, behind everything that is known."""
        taken = [form.manifest.serial for forms in seen.forms.values() for form in forms]
        self._memory.next_serial = max([self._memory.next_serial - 1, *taken]) + 1
        for original in sorted(whole, key=_order):
            name = original.path.name
            known = self._memory.files.get(name)
            if known is None or known.identity != original.identity or known.is_gone:
                serial = self._serial_for(original, seen)
                self._put(name, Known(original.identity, serial))

    def _serial_for(self, original: Original, seen: Look) -> int:
        """That of what was made of this very file by an agent whose memory is lost; else a new
        one."""
        for form in seen.forms.get(original.path.name, ()):
            if form.is_made_of(original.identity):
                return form.manifest.serial
        self._memory.next_serial += 1
        return self._memory.next_serial - 1

    def vanished(self, seen: Look) -> list[str]:
        """Originals that are gone, and that we did not delete; they are told of once."""
        names = [
            name
            for name, known in self._memory.files.items()
            if name not in seen.originals and not known.is_gone
        ]
        for name in names:
            self.note_gone(name)
        return names

    def note_gone(self, name: str) -> None:
        self._put(name, msgspec.structs.replace(self._memory.files[name], is_gone=True))

    def forget(self, seen: Look) -> None:
        """Let go of what has left nothing behind."""
        for name, known in list(self._memory.files.items()):
            if known.is_gone and name not in seen.originals and name not in seen.forms:
                del self._memory.files[name]
                self._is_changed = True

    def write(self) -> None:
        """Make it durable, if there is anything new. Raises OSError."""
        if self._is_changed:
            write_whole(self._path, msgspec.json.encode(self._memory))
            self._is_changed = False

    def _put(self, name: str, known: Known) -> None:
        self._memory.files[name] = known
        self._is_changed = True


def _order(original: Original) -> tuple[int, int]:
    step = original.place.step if original.place else 0
    return step, original.identity.mtime_ns


def _read(path: Path) -> _Memory:
    """Raises OSError where there is one that cannot be read: nobody may write over that."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=_Memory)
    except (FileNotFoundError, msgspec.DecodeError, UnicodeDecodeError):
        return _Memory()
