"""Carrying retention out in one directory: nothing goes before something that stays is proven."""

from __future__ import annotations

from pathlib import Path

from instride.agent.care import Care
from instride.agent.looking import Look
from instride.agent.pruning import Saved, doomed, saved_in
from instride.agent.telling import size_text
from instride.faults import reached
from instride.store.removing import remove


class Retaining:
    def __init__(self, care: Care) -> None:
        self._care = care

    def prune(self, seen: Look, *, only_made: bool) -> bool:
        """Delete one checkpoint that need not be kept; False if there is none.

        `only_made`: somebody else deletes originals, which are left to them.
        """
        keep = self._care.configuration.keep
        if keep is None:
            return False
        saved = saved_in(seen, self._care.memory.files)
        going, held = doomed(saved, keep, self._is_good)
        for series in held:
            text = f"nothing of {series} is deleted: none of those that would stay is whole"
            self._care.teller.tell_once(f"held {series}", "held", text)
        return any(self._delete(each, seen, keep, only_made=only_made) for each in going)

    def _delete(self, saved: Saved, seen: Look, keep: int, *, only_made: bool) -> bool:
        paths = [*saved.made]
        if saved.original is not None and not only_made:
            paths.append(saved.original)
        paths = [path for path in paths if path.name not in seen.links]
        if not paths:
            return False
        num_bytes = sum(_size(path) for path in paths)
        if saved.original in paths and saved.name in self._care.memory.files:
            self._care.memory.note_gone(saved.name)  # first: else a kill looks like another pruner
            self._care.memory.write()
        for path in paths:
            if path != saved.original or seen.originals[saved.name].is_still_there():
                remove(path)  # a training that begins anew may have just replaced it
            reached("agent.deleted")
        names = [path.name for path in paths]
        self._care.teller.tell(
            "deleted",
            f"deleted {', '.join(names)} ({size_text(num_bytes)}): the newest {keep} are kept",
            name=saved.name, names=names, bytes=num_bytes, why=f"keep_latest = {keep}",
        )  # fmt: skip
        return True

    def _is_good(self, saved: Saved) -> bool:
        proofs = self._care.proofs
        return any(proofs.holds(path, is_made=True) for path in saved.made) or (
            saved.original is not None and proofs.holds(saved.original, is_made=False)
        )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
