"""Descriptors that live for long, where nobody writes by mistake."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

LAST_STANDARD = 2


@contextmanager
def above_standard() -> Iterator[None]:
    """Nothing that is opened meanwhile becomes standard input, output or error.

    A program that was started without one of them (`2>&-`) gives its number to the next file that
    it opens, and whatever any library then says on it is written there: into a snapshot, if that is
    the memory of one. Maps of Python have a descriptor too, so that moving ours is not enough.
    """
    taken: list[int] = []
    try:
        with suppress(OSError):  # there may be no such device, or no descriptor left
            while (descriptor := os.open(os.devnull, os.O_RDWR)) <= LAST_STANDARD:
                taken.append(descriptor)
            os.close(descriptor)
        yield
    finally:
        for descriptor in taken:
            os.close(descriptor)
