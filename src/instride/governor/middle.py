"""Means and medians. The standard library's come with exact fractions, which a small process that
is there all the time can do without."""

from __future__ import annotations

from collections.abc import Collection


def mean_of(values: Collection[float]) -> float:
    return sum(values) / len(values)


def median_of(values: Collection[float]) -> float:
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
