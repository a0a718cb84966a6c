"""Steps of a Hugging Face log that prints epochs only: `'epoch': 0.07`, no step, no bar.

The Trainer logs every k steps. k is taken only if the epochs are evenly spaced, so that no record
is missing, and exactly one whole number fits what the log says of the number of steps.
"""

from __future__ import annotations

import re
from array import array
from math import ceil, floor, log10

EPOCH = re.compile(r"'epoch': ('?)(\d{1,6}(?:\.\d{1,20})?(?:e-\d\d)?)\b")
STEP_RATE = re.compile(r"'train_steps_per_second': ('?)(\d{1,9}(?:\.\d{1,12})?(?:e-\d\d)?)\b")
HALF_RATE = 0.0005
"""Rates are rounded to three digits behind the point."""
SIGNIFICANT = 4
"""Digits of the numbers that version 5 prints as strings."""
TINY = 1e-6


class EpochSteps:
    def __init__(self) -> None:
        self._settings: dict[str, int] = {}
        self._epochs = array("d")
        self._digits = 0
        """Most digits behind the point that an epoch has; zeros at the end are not printed."""
        self._is_string = False
        self._is_unclear = False
        self._total: tuple[float, float] | None = None
        """Lowest and highest number of steps of the whole training, known at its end."""

    def add_setting(self, name: str, value: int) -> None:
        self._settings[name] = value

    def add_record(self, line: str) -> None:
        found = EPOCH.search(line)
        if found is None:
            self._is_unclear = True
            return
        self._epochs.append(float(found[2]))
        self._is_string = bool(found[1])
        mantissa, _, exponent = found[2].partition("e")
        digits = len(mantissa.partition(".")[2]) - int(exponent or 0)
        self._digits = max(self._digits, digits)

    def add_summary(self, line: str, runtime_s: float) -> None:
        """The last dictionary: the training is complete, and did so many steps a second."""
        total = self._settings.get("Total optimization steps")
        found = STEP_RATE.search(line)
        if total:
            self._total = total, total
        elif found:
            rate = float(found[2])
            half = max(HALF_RATE, _half_of_string(rate) if found[1] else 0.0)
            self._total = (rate - half) * runtime_s, (rate + half) * runtime_s

    def steps_between(self) -> int | None:
        """How many steps lie between two records, if that is certain."""
        if self._is_unclear or not self._epochs or not self._are_even():
            return None
        number, per_epoch = len(self._epochs), self._settings.get("Num update steps per epoch")
        if self._total is not None:
            # Another record would have come after so many steps more.
            low, high = self._total[0] / (number + 1) + TINY, self._total[1] / number + TINY
        elif per_epoch:
            last = self._epochs[-1]
            low = (last - self._half(last)) * per_epoch / number - TINY
            high = (last + self._half(last)) * per_epoch / number + TINY
        else:
            return None
        first, last_fit = ceil(low), floor(high)
        return first if 0 < first == last_fit else None

    def _half(self, epoch: float) -> float:
        """By how much a printed epoch may have been rounded."""
        return _half_of_string(epoch) if self._is_string else 0.5 * 10.0**-self._digits

    def _are_even(self) -> bool:
        last = self._epochs[-1]
        between, half = last / len(self._epochs), self._half(last)
        return all(
            abs(epoch - between * index) <= half + self._half(epoch) + TINY
            for index, epoch in enumerate(self._epochs, start=1)
        )


def _half_of_string(value: float) -> float:
    return 0.5 * 10.0 ** (floor(log10(value)) + 1 - SIGNIFICANT) if value > 0 else 0.0
