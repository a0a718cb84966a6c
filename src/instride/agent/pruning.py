"""Which checkpoints may go: of each series all but the newest, and only if one of those is good.

A rule without side effects, as `store/retention.py` is for a store of one's own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import msgspec

from instride.agent.looking import Look
from instride.agent.naming import place_of
from instride.agent.remembering import Known


class Saved(msgspec.Struct, frozen=True):
    """A checkpoint in all its forms."""

    name: str
    """Of the original."""
    series: str
    serial: int
    original: Path | None
    """None once it is gone."""
    made: tuple[Path, ...]
    """Committed files that were made of it."""
    num_bytes: int


def saved_in(seen: Look, known: Mapping[str, Known]) -> list[Saved]:
    """What counts for retention: whole, known, and with a number in its name; oldest first."""
    found = []
    for name in {*known, *seen.forms}:
        place = place_of(name)
        original = seen.originals.get(name)
        is_whole = original is not None and name in known
        is_same = is_whole and original is not None and known[name].identity == original.identity
        forms = seen.forms.get(name, [])
        if place is None or (original is not None and not is_same) or not (original or forms):
            continue  # what is being written anew is nobody's business yet
        serial = known[name].serial if name in known else max(f.manifest.serial for f in forms)
        sizes = [form.identity.size_bytes for form in forms]
        found.append(
            Saved(
                name=name,
                series=place.series,
                serial=serial,
                original=original.path if original else None,
                made=tuple(form.path for form in forms),
                num_bytes=sum(sizes) + (original.identity.size_bytes if original else 0),
            )
        )
    return sorted(found, key=lambda saved: saved.serial)


def doomed(
    saved: Iterable[Saved], keep: int, is_good: Callable[[Saved], bool]
) -> tuple[list[Saved], list[str]]:
    """What may go, oldest first; and the series in which nothing goes, because none of those that
    would stay is good."""
    by_series: dict[str, list[Saved]] = {}
    for each in saved:
        by_series.setdefault(each.series, []).append(each)
    going: list[Saved] = []
    held = []
    for series, members in by_series.items():
        ordered = sorted(members, key=lambda each: each.serial)
        old, kept = ordered[:-keep], ordered[-keep:]
        if not old:
            continue
        if any(is_good(each) for each in reversed(kept)):
            going += old
        else:
            held.append(series)
    return sorted(going, key=lambda each: each.serial), held
