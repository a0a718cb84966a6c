"""Timestamps in the forms that unknown trainers print, and spans of time such as `1h 2m 3s`.

Some forms lack the year or the day. Those are counted on: a clock that falls back by more than two
hours (from 23:59 to 00:01) has begun a new day.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from math import isfinite

from instride.steps.clocks import elapsed_s

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
DAYS_BEFORE = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)
DAY_S = 86400.0
YEAR_S = 365 * DAY_S
FALLS_BACK = 12
"""A twelfth of a period: two hours of a day, as an hour may come twice; a month of a year."""
LATE_S = 60.0
PREFIX_WIDTH = 160
"""Where a timestamp without a date may begin at the latest: later ones are elapsed times."""

TIME = r"(?P<hour>\d\d?):(?P<minute>[0-5]\d):(?P<second>[0-6]\d)(?P<fraction>[.,]\d{1,9})?(?!:?\d)"
HALF = r"(?: ?(?P<half>[AaPp])\.?[Mm]\b)?"
OPENING = r"^[\s\[(<|]{0,4}(?:\[?\w{1,24}\]?[:|>] ?)?[\s\[(<|]{0,4}"
NAME = r"(?P<name>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}"

FORMS: dict[str, re.Pattern[str]] = {
    "dated": re.compile(
        r"(?<!\d)(?P<year>\d{4})[-/.](?P<month>\d\d)[-/.](?P<day>\d\d)(?:[T_]|,? | - |,)"
        + TIME
        + r"(?P<zone>Z|[+-]\d\d:?\d\d\b)?"
    ),
    "compact": re.compile(
        r"(?<!\d)(?P<year>20\d\d)(?P<month>[01]\d)(?P<day>[0-3]\d)[ T_-]"
        r"(?P<hour>[0-2]\d):?(?P<minute>[0-5]\d):?(?P<second>[0-5]\d)(?P<fraction>[.,]\d{1,9})?(?!\d)"
    ),
    "day first": re.compile(
        r"(?<!\d)(?P<day>\d\d?)\.(?P<month>\d\d?)\.(?P<year>\d{4}|\d\d),? " + TIME
    ),
    "month first": re.compile(
        r"(?<!\d)(?P<month>\d\d?)/(?P<day>\d\d?)/(?P<year>\d{4}|\d\d),? " + TIME + HALF
    ),
    "named month": re.compile(
        r"\b" + NAME + r" {1,2}(?P<day>\d\d?),? " + TIME + r"(?: (?P<year>20\d\d))?"
    ),
    "named day": re.compile(
        r"(?<!\d)(?P<day>\d\d?)[ /-]" + NAME + r"[ /-](?P<year>\d{4})[ :]" + TIME
    ),
    "short year": re.compile(r"(?<![\d/-])(?P<year>\d\d)-(?P<month>\d\d)-(?P<day>\d\d) " + TIME),
    "no year": re.compile(r"(?<![\d/-])(?P<month>\d\d)[/-](?P<day>\d\d)[ T-]" + TIME),
    "glog": re.compile(r"(?<!\w)[DIWEF](?P<month>[01]\d)(?P<day>[0-3]\d) {1,2}" + TIME),
    "time only": re.compile(OPENING + TIME + HALF),
    "epoch": re.compile(OPENING + r"(?P<epoch>1\d{9}(?:\.\d{1,9})?|1\d{12})(?![\d.])"),
}
WITHOUT_COLONS = {form: FORMS[form] for form in ("compact", "epoch")}
TIME_OF_DAY = re.compile(r"\d:[0-5]\d:[0-6]\d")
BARE_TIME = re.compile(TIME + HALF)
COMPOUND = re.compile(
    r"(?:(?P<days>\d{1,5}) ?d(?:ays?)?,? ?)?(?:(?P<hours>\d{1,6}) ?h(?:ours?|rs?)?,? ?)?"
    r"(?:(?P<minutes>\d{1,6}) ?m(?:in(?:ute)?s?)?,? ?)?"
    r"(?:(?P<seconds>\d{1,9}(?:\.\d{1,9})?) ?s(?:ec(?:ond)?s?)?)?"
)


def find_form(line: str) -> tuple[str, int, int] | None:
    """The form of the first timestamp that is found in a line, and where it begins and ends."""
    forms = FORMS if TIME_OF_DAY.search(line, 0, PREFIX_WIDTH * 4) else WITHOUT_COLONS
    for form, shape in forms.items():
        if found := shape.search(line, 0, PREFIX_WIDTH * 4):
            group = "epoch" if form == "epoch" else "hour"
            begin = found.start(group) if form in ("time only", "epoch") else found.start()
            return form, begin, found.end()
    return None


_Day = tuple[float, float | None, int | None]
"""Seconds at its beginning; the period after which they begin anew; hours to add (`PM`)."""


class Stamps:
    """Reads the timestamps of one log; they all have one form, the first that was found."""

    def __init__(self, form: str | None = None, counts_on: bool = True) -> None:
        self.form = form
        self._counts_on = counts_on
        """False for a clock that starts with the process: falling back is no new day."""
        self.resolution_s = 1.0
        """Whole seconds, until a fraction is seen."""
        self._days: dict[str, _Day | None] = {}
        self._last: float | None = None
        self._turns_s = 0.0
        self._is_leap = False

    def find(self, line: str, end: int | None = None) -> float | None:
        """The first timestamp in the first `end` characters of a line, in seconds."""
        width = PREFIX_WIDTH * 4 if end is None else end
        if self.form is None:
            found = find_form(line[:width])
            if found is None:
                return None
            self.form = found[0]
        match = FORMS[self.form].search(line, 0, width)
        return None if match is None else self._seconds(match)

    def read(self, text: str) -> float | None:
        """A text that is a timestamp as a whole: also a bare time, or seconds since 1970."""
        if (seconds := self._epoch(text)) is not None:
            return seconds
        if match := BARE_TIME.fullmatch(text.strip()):
            return self._seconds(match)
        if found := find_form(text):
            self.form = found[0]
            return self.find(text)
        return None

    def _seconds(self, match: re.Match[str]) -> float | None:
        if "epoch" in match.re.groupindex:
            return self._epoch(match["epoch"])
        hour, minute, second, fraction = match.group("hour", "minute", "second", "fraction")
        after = match.end("second") if fraction is None else match.end("fraction")
        text = match.string
        # The date, and what follows the time: a zone, a year, a half of the day.
        key = text[match.start() : match.start("hour")] + text[after : match.end()]
        if key not in self._days:
            if len(self._days) > 64:
                self._days.clear()
            self._days[key] = self._day(match.groupdict())
        day = self._days[key]
        if day is None:
            return None
        begin_s, period_s, half = day
        whole_hour = int(hour) if half is None else int(hour) % 12 + half
        of_day = whole_hour * 3600.0 + int(minute) * 60 + int(second)
        if of_day > DAY_S:
            return None
        if fraction is not None:
            self.resolution_s = 0.0
            of_day += float("." + fraction[1:])
        return begin_s + of_day if period_s is None else self._count_on(begin_s + of_day, period_s)

    def _epoch(self, text: str) -> float | None:
        seconds = _since_1970(text)
        if seconds is not None and "." in text:
            self.resolution_s = 0.0
        return seconds

    def _day(self, parts: dict[str, str | None]) -> _Day | None:
        """Where the day begins; None for a date that does not exist."""
        half = parts.get("half")
        hours = None if half is None else 12 if half in "pP" else 0
        month, day = parts.get("month") or parts.get("name"), parts.get("day")
        if month is None or day is None:
            return 0.0, DAY_S, hours
        try:
            begin_s = self._new_day(parts.get("year"), month, day, parts.get("zone"))
        except ValueError:
            return None
        return begin_s, YEAR_S if parts.get("year") is None else None, hours

    def _new_day(self, year: str | None, month: str, day: str, zone: str | None) -> float:
        month_number = int(month) if month.isdigit() else MONTHS.index(month.lower()) + 1
        if year is None:
            if not (1 <= month_number <= 12 and 1 <= int(day) <= 31):
                raise ValueError(day)
            self._is_leap = self._is_leap or (month_number, int(day)) == (2, 29)
            leap = self._is_leap and month_number > 2
            return (DAYS_BEFORE[month_number - 1] + int(day) - 1 + leap) * DAY_S
        full = int(year) + 2000 if len(year) == 2 else int(year)
        day_number = int(day)
        if month_number > 12 >= day_number:
            month_number, day_number = day_number, month_number
        begin = datetime(full, month_number, day_number, tzinfo=UTC).timestamp()
        return begin - _zone_s(zone)

    def _count_on(self, seconds: float, period_s: float) -> float:
        if not self._counts_on:
            return seconds
        now = seconds + self._turns_s
        if self._last is not None:
            if now < self._last - period_s / FALLS_BACK:
                self._turns_s += period_s
                now += period_s
            elif 0 <= self._last - (now - period_s) < LATE_S:
                # Another thread's line from just before midnight, printed just after it.
                return now - period_s
        self._last = now
        return now


def _zone_s(zone: str | None) -> float:
    if not zone or zone == "Z":
        return 0.0
    digits = zone[1:].replace(":", "")
    offset = int(digits[:2]) * 3600 + int(digits[2:]) * 60
    return -offset if zone[0] == "-" else offset


def _since_1970(text: str) -> float | None:
    """Seconds since 1970 from a number of seconds, or of milli-, micro- or nanoseconds."""
    try:
        value = float(text)
    except ValueError:
        return None
    for scale in (1.0, 1e3, 1e6, 1e9):
        if 1e9 * scale <= value < 4e9 * scale:
            return value / scale
    return None


def span_s(text: str) -> float | None:
    """Seconds in `12.5`, `1:02:03`, `9 days, 22:13:15`, `12m 3s` or `1h2m3.5s`."""
    text = text.strip()
    try:
        if ":" in text:
            return elapsed_s(text)
        if text and text[-1].isalpha():
            found = COMPOUND.fullmatch(text)
            return None if found is None else _compound_s(found)
        value = float(text.replace(",", ""))
    except (ValueError, OverflowError):
        return None
    return value if isfinite(value) else None


def _compound_s(found: re.Match[str]) -> float | None:
    days, hours, minutes, seconds = found.group("days", "hours", "minutes", "seconds")
    if days is hours is minutes is seconds is None:
        return None
    whole = int(days or 0) * 86400 + int(hours or 0) * 3600 + int(minutes or 0) * 60
    return whole + float(seconds or 0)
