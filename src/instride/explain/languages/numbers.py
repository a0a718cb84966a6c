"""Numbers and units as German, French and Japanese write them; English is the contract's own."""

from __future__ import annotations

from instride.explain.languages.contract import Facts, Language
from instride.explain.languages.facts import number_of

SPACE = "\u00a0"
NARROW = "\u202f"
DAY_S = 86_400


class GermanNumbers(Language):
    """`1.234,5 s`, `9,1 %`: no line is broken between a number and its unit."""

    decimal_mark = ","
    thousands_mark = "."

    def percent(self, share: float) -> str:
        return super().percent(share).replace(" ", SPACE)

    def seconds(self, value: float) -> str:
        return super().seconds(value).replace(" ", SPACE)

    def _long(self, seconds: int) -> str:
        days, rest = divmod(seconds, DAY_S)
        if days < 2:
            return super()._long(seconds)
        return f"{self.number(days)} Tage {rest // 3600} h"

    def _fold(self, facts: Facts) -> str:
        """So many times as long, or as fast."""
        return self.factor(number_of(facts, "factor"))[:-1] + "-mal so"

    def _often(self, count: int) -> str:
        return "einmal" if count == 1 else f"{self.number(count)}-mal"


class FrenchNumbers(Language):
    """`1 234,5 s`, `9,1 %`: narrow no-break spaces in numbers and before the sign."""

    decimal_mark = ","
    thousands_mark = NARROW

    def percent(self, share: float) -> str:
        return super().percent(share).replace(" ", NARROW)

    def seconds(self, value: float) -> str:
        return super().seconds(value).replace(" ", SPACE)

    def _long(self, seconds: int) -> str:
        days, rest = divmod(seconds, DAY_S)
        if days < 2:
            return super()._long(seconds)
        return f"{self.number(days)} j {rest // 3600} h"

    def _fold(self, facts: Facts) -> str:
        """So many times."""
        return self.factor(number_of(facts, "factor"))[:-1] + f"{SPACE}fois"

    def _often(self, count: int) -> str:
        return "une fois" if count == 1 else f"{self.number(count)} fois"


class JapaneseNumbers(Language):
    """`5.38秒`, `9.1%`, `3.2倍`: only symbols of units are set apart."""

    def percent(self, share: float) -> str:
        return super().percent(share).replace(" ", "")

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
