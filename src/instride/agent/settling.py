"""Which files may be touched: looked at again and again until they are known to be whole."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from instride.agent.looking import Look, Original
from instride.agent.remembering import Known
from instride.agent.wholeness import (
    SETTLED_S,
    SETTLED_WITHOUT_END_S,
    End,
    Identity,
    end_of,
    unseen_writers,
    writers,
)

HALF_S = 60.0
"""A file without an end that nobody writes to for so long was left by a crash."""


class Verdicts(msgspec.Struct, frozen=True):
    """What was found at one look."""

    whole: list[Original]
    trainers: set[int]
    """Processes that have one of the others open for writing."""
    is_settling: bool
    """Whether some only have to be looked at once more."""
    being_written: list[str]
    """Names of files that somebody has open for writing."""
    halves: list[str]
    """Names of files that somebody left unfinished."""
    unseen: str | None
    """Why a file must be looked at twice; None where nobody can write to it unseen."""


class Settling:
    """Remembers since when each new file has been as it is."""

    def __init__(self, directory: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self._directory = directory
        self._clock = clock
        self._since: dict[str, tuple[Identity, float]] = {}

    def judge(self, seen: Look, known: dict[str, Known]) -> Verdicts:
        """Tell which originals are whole. Those that were so before, and have not changed, are."""
        now_s = self._clock()
        whole: list[Original] = []
        fresh: list[Original] = []
        for name, original in seen.originals.items():
            was = known.get(name)
            is_known = was is not None and was.identity == original.identity and not was.is_gone
            (whole if is_known else fresh).append(original)
        self._since = {each.path.name: self._first_look(each, now_s) for each in fresh}
        open_files = writers([each.path for each in fresh])
        unseen = unseen_writers(self._directory, open_files.num_hidden) if fresh else None
        trainers: set[int] = set()
        halves: list[str] = []
        being_written: list[str] = []
        is_settling = False
        for each in fresh:
            pids = open_files.of(each.path)
            trainers |= pids
            if pids:
                being_written.append(each.path.name)
                continue
            end = end_of(each.path)
            age_s = now_s - self._since[each.path.name][1]
            if end is End.MISSING:
                halves += [each.path.name] if age_s >= HALF_S else []
            elif age_s >= _settled_s(end, unseen) and each.is_still_there():
                whole.append(each)
            else:
                is_settling = True
        return Verdicts(whole, trainers, is_settling, being_written, halves, unseen)

    def _first_look(self, original: Original, now_s: float) -> tuple[Identity, float]:
        was = self._since.get(original.path.name)
        return (
            was if was is not None and was[0] == original.identity else (original.identity, now_s)
        )


def _settled_s(end: End, unseen: str | None) -> float:
    if end is End.UNKNOWN:
        return SETTLED_WITHOUT_END_S
    return SETTLED_S if unseen else 0.0
