"""What is said of checkpoints that are deleted, whoever in the writer deletes them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from instride.places import PACK
from instride.store.directory import STEP_NAME
from instride.writer.hands import Crew
from instride.writer.journal import Value
from instride.writer.telling import Told


class Deleting:
    """Around all that deletes in a store: the journal has the names, and the governor does not
    take what the disk does for it for others who need the disk, and begin the next save gently."""

    def __init__(self, directory: Path | None, crew: Crew, told: Told) -> None:
        self._directory = directory
        self._crew = crew
        self._told = told

    @contextmanager
    def noted(self, **more: Value) -> Iterator[None]:
        """Also where it ends halfway: what was deleted before that is gone."""
        before = self._names()
        try:
            yield
        finally:
            self._crew.look_anew()
            after = self._names()
            if before is not None and after is not None:
                self._note(before, after, more)

    def _note(self, before: set[str], after: set[str], more: dict[str, Value]) -> None:
        """An original in whose place its pack is now was not deleted."""
        if gone := sorted(name for name in before - after if name + PACK not in after):
            self._told.note("deleted", names=gone, **more)

    def _names(self) -> set[str] | None:
        """None if they cannot be told: what deletes says what is wrong."""
        if self._directory is None:
            return None
        try:
            names = [path.name for path in self._directory.iterdir()]
        except OSError:
            return None
        return set(filter(STEP_NAME.fullmatch, names))
