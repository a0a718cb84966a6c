"""Heavy work in a thread that yields, while the main thread stays awake for everything else."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from instride.governor.yielding import yield_thread

TICK_S = 0.25
T = TypeVar("T")


def do_aside(work: Callable[[], T], tick: Callable[[], None]) -> T:
    """What `work` returns or raises; `tick` is called meanwhile, some times a second.

    A thread cannot leave the idle class: hence one for each piece of work, and never the main one.
    """
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        yield_thread()
        try:
            results.append(work())
        except BaseException as error:  # raised again below, whatever it is
            errors.append(error)

    thread = threading.Thread(target=run, name="agent-work", daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(TICK_S)
        tick()
    if errors:
        raise errors[0]
    return results[0]
