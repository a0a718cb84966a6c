"""Times as logs print them: timestamps, elapsed times, durations with units."""

from __future__ import annotations

import re
from datetime import UTC, datetime

STAMP = re.compile(r"(\d{4}-\d\d-\d\d)[T ,_](\d\d:\d\d):(\d\d(?:[.,]\d{1,9})?)(Z|[+-]\d\d:?\d\d)?")
ELAPSED = re.compile(r"(?:(\d{1,6}) days?, )?(?:(\d{1,9}):)?(\d{1,9}):(\d\d(?:\.\d{1,9})?)")

AFTER_MINUTE = re.compile(r":(\d\d(?:[.,]\d{1,9})?)(Z|[+-]\d\d:?\d\d)?")
"""The rest of `STAMP`."""

_minutes: dict[tuple[str, str, str | None], float] = {}
"""Minutes seen lately."""


class _Last:
    """The stamp found last: lines of a log mostly begin like the line before, up to the minute."""

    head: str = "\0"
    """The line up to the minute."""
    zone: str | None = None
    minute: float = 0.0


def stamp(line: str) -> float | None:
    """The first full timestamp in a line, as seconds since 1970 (zones obeyed, else UTC)."""
    return stamp_before(line, len(line))


def stamp_before(line: str, end: int) -> float | None:
    """The timestamp in the prefix of a record, if it has one; cheap where there is no prefix."""
    if end < 19:
        return None
    if line.startswith(_Last.head):
        rest = AFTER_MINUTE.match(line, len(_Last.head), end)
        if rest is not None and rest[2] == _Last.zone:
            return _Last.minute + float(rest[1].replace(",", "."))
    found = STAMP.search(line, 0, end)
    return None if found is None else _seconds(found)


def _seconds(found: re.Match[str]) -> float | None:
    date, hour_minute, second, zone = found.groups()
    key = (date, hour_minute, zone)
    minute = _minutes.get(key)
    if minute is None:
        try:
            moment = datetime.fromisoformat(f"{date} {hour_minute}{zone or ''}")
        except ValueError:
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        if len(_minutes) > 64:
            _minutes.clear()
        minute = _minutes[key] = moment.timestamp()
    _Last.head, _Last.zone, _Last.minute = found.string[: found.end(2)], zone, minute
    return minute + float(second.replace(",", "."))


def elapsed_s(text: str) -> float | None:
    """Seconds in `06:22`, `1:18:25` or `9 days, 22:13:15`."""
    found = ELAPSED.fullmatch(text.strip())
    if found is None:
        return None
    days, hours, minutes, seconds = found.groups()
    return int(days or 0) * 86400 + int(hours or 0) * 3600 + int(minutes) * 60 + float(seconds)


UNITS = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}


def count(text: str) -> float:
    """A number as trainers write it: `1,053`, `3.01k`, `12M`."""
    text = text.replace(",", "")
    if text and text[-1] in UNITS:
        return float(text[:-1]) * UNITS[text[-1]]
    return float(text)
