"""Reading the facts of a finding; what the sentences of several languages share."""

from __future__ import annotations

from collections.abc import Mapping

Facts = Mapping[str, float | int | str | None]

LEAST_TIMES = 1.5
"""An aftermath is compared with its save from this multiple on."""


def number_of(facts: Facts, key: str) -> float:
    """A fact that is a number."""
    value = facts[key]
    assert isinstance(value, int | float)
    return value


def count_of(facts: Facts, key: str) -> int:
    """A fact that counts something."""
    return int(number_of(facts, key))


def times_the_save(facts: Facts) -> int | None:
    """How many times the cost of the save its aftermath cost, if that is worth a word."""
    times = facts["times_save"]
    if times is None or float(times) < LEAST_TIMES:
        return None
    return round(float(times))


def is_uneven(facts: Facts) -> bool:
    """Whether one pause was so much longer than the others that it is named."""
    return number_of(facts, "worst_s") > 1.5 * number_of(facts, "average_s")
