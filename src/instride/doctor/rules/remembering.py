"""What several rules need of a repository or of one of its files, worked out once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

Subject = TypeVar("Subject")
Result = TypeVar("Result")


def once(work: Callable[[Subject], Result]) -> Callable[[Subject], Result]:
    """Remember what a function said of something, as long as there is that thing."""
    known: WeakKeyDictionary[Subject, Result] = WeakKeyDictionary()

    @wraps(work)
    def remembered(subject: Subject) -> Result:
        if subject not in known:
            known[subject] = work(subject)
        return known[subject]

    return remembered
