"""Work done piece by piece, by as many threads as there are cores."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from instride.framed.blocks import num_threads

DoOne = Callable[[], bool]
"""Does a piece of some work, whichever is next; False if there is none. Threads may call it at the
same time."""
Runner = Callable[[DoOne], None]
"""Calls it from several threads until it returns False, and raises what any of them raises."""


def in_threads(do_one: DoOne) -> None:
    """The runner for people who wait."""
    over = threading.Event()

    def work() -> None:
        try:
            while not over.is_set() and do_one():
                pass
        finally:
            over.set()  # none is left for the others either, or one failed

    with ThreadPoolExecutor(num_threads(), thread_name_prefix="pack") as pool:
        futures = [pool.submit(work) for _ in range(num_threads())]
        try:
            for future in futures:
                future.result()
        finally:
            over.set()  # whoever interrupts should not wait for all of it
