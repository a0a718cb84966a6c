"""Numbers and units, as each language writes them."""

from __future__ import annotations

from typing import ClassVar

from instride.explain.languages.facts import Facts, number_of

SPACE = "\u00a0"
NARROW = "\u202f"
ENDINGS = {1: "st", 2: "nd", 3: "rd"}
SIZES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
"""Decimal, as disks are sold and as `df -H` shows them."""

NEARLY = 0.1
"""Share by which what is usual may miss the average and still stand for it."""


class Numbers:
    """`1,234.5 s`, `9.1 %`: as English writes them, and others unless they say so."""

    decimal_mark: ClassVar[str] = "."
    thousands_mark: ClassVar[str] = ","
    byte_unit: ClassVar[str] = "B"
    unit_gap: ClassVar[str] = " "
    percent_gap: ClassVar[str] = " "
    days_unit: ClassVar[str] = "d"
    on_average: ClassVar[str] = "on average "

    def number(self, value: float, digits: int = 0) -> str:
        text = f"{value:,.{digits}f}"
        marks = {",": self.thousands_mark, ".": self.decimal_mark}
        return "".join(marks.get(char, char) for char in text)

    def percent(self, share: float) -> str:
        percent = 100 * share
        digits = 0 if percent >= 9.95 else 1 if percent >= 0.095 or percent == 0 else 2
        return f"{self.number(percent, digits)}{self.percent_gap}%"

    def factor(self, value: float) -> str:
        return self.number(value, 1 if value < 9.95 else 0) + "\N{MULTIPLICATION SIGN}"

    def bytes(self, value: float) -> str:
        """`64 MB`, `1.5 GB`."""
        size, prefix = next((unit for unit in SIZES if value >= 0.9995 * unit[0]), (1, ""))
        scaled = value / size
        digits = 1 if prefix and scaled < 9.95 else 0
        return f"{self.number(scaled, digits)}{self.unit_gap}{prefix}{self.byte_unit}"

    def seconds(self, value: float) -> str:
        """A duration with the unit a person would choose."""
        return self._in_units(value).replace(" ", self.unit_gap)

    def _in_units(self, value: float) -> str:
        if value < 0.0995:
            return f"{self.number(1e3 * value, 1)} ms"
        if value < 0.9995:
            return f"{self.number(1e3 * value)} ms"
        if value < 9.995:
            return f"{self.number(value, 2)} s"
        if value < 600:
            return f"{self.number(value, 1)} s"
        return self._long(round(value))

    def each(self, facts: Facts, cost_s: float) -> str:
        """What each of several things took, such that it adds up to what they took together."""
        count, typical_s = number_of(facts, "count"), number_of(facts, "typical_s")
        if abs(count * typical_s - cost_s) <= NEARLY * cost_s:
            return self.seconds(typical_s)
        return self.on_average + self.seconds(cost_s / count)

    def _long(self, seconds: int) -> str:
        minutes, rest = divmod(seconds, 60)
        if minutes < 60:
            return f"{minutes} min {rest} s"
        hours, minutes = divmod(minutes, 60)
        if hours < 48:
            return f"{hours} h {minutes} min"
        days, hours = divmod(hours, 24)
        return f"{self.number(days)} {self.days_unit} {hours} h"


def ordinal(number: int) -> str:
    """In English: 1st, 2nd, 3rd, 4th, 11th, 21st."""
    if number % 100 in (11, 12, 13):
        return f"{number:,}th"
    return f"{number:,}{ENDINGS.get(number % 10, 'th')}"


class GermanNumbers(Numbers):
    """`1.234,5 s`, `9,1 %`: no line is broken between a number and its unit."""

    decimal_mark = ","
    thousands_mark = "."
    unit_gap = percent_gap = SPACE
    days_unit = "Tage"
    on_average = "durchschnittlich "

    def _fold(self, facts: Facts) -> str:
        """So many times as long, or as fast."""
        return self.factor(number_of(facts, "factor"))[:-1] + "-mal so"

    def _often(self, count: int) -> str:
        return "einmal" if count == 1 else f"{self.number(count)}-mal"


class FrenchNumbers(Numbers):
    """`1 234,5 s`, `9,1 %`: narrow no-break spaces in numbers and before the sign."""

    decimal_mark = ","
    thousands_mark = NARROW
    byte_unit = "o"
    unit_gap = SPACE
    percent_gap = NARROW
    days_unit = "j"
    on_average = "en moyenne "

    def _fold(self, facts: Facts) -> str:
        """So many times."""
        return self.factor(number_of(facts, "factor"))[:-1] + f"{SPACE}fois"

    def _often(self, count: int) -> str:
        return "une fois" if count == 1 else f"{self.number(count)} fois"


class JapaneseNumbers(Numbers):
    """`5.38秒`, `9.1%`, `3.2倍`: only symbols of units are set apart."""

    percent_gap = ""
    on_average = "平均"

    def factor(self, value: float) -> str:
        return super().factor(value)[:-1] + "倍"

    def seconds(self, value: float) -> str:
        if value < 0.9995:
            return super().seconds(value)
        if value < 600:
            return f"{self.number(value, 2 if value < 9.995 else 1)}秒"
        return self._long(round(value))

    def _long(self, seconds: int) -> str:
        minutes, rest = divmod(seconds, 60)
        if minutes < 60:
            return f"{minutes}分{rest}秒"
        hours, minutes = divmod(minutes, 60)
        if hours < 48:
            return f"{hours}時間{minutes}分"
        days, hours = divmod(hours, 24)
        return f"{self.number(days)}日{hours}時間"

    def _fold(self, facts: Facts) -> str:
        return self.factor(number_of(facts, "factor"))
