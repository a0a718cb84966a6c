"""Several things at a time, in threads that let those of the training go first."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress

from instride.system.priority import make_thread_modest


def together(*jobs: Callable[[], None]) -> None:
    """Do all of it, each job in a thread of its own if there are several.

    Whatever happens to one, all come to their end; then the first error is raised.
    """
    errors: list[Exception] = []

    def do(job: Callable[[], None]) -> None:
        try:
            job()
        except Exception as error:
            errors.append(error)

    def do_modestly(job: Callable[[], None]) -> None:
        make_thread_modest(preempts=False)
        do(job)

    here = list(jobs)
    threads: list[threading.Thread] = []
    with suppress(RuntimeError):  # a program that is ending starts no threads any more
        while here and len(jobs) > 1:
            thread = threading.Thread(target=do_modestly, args=(here[-1],), daemon=True)
            thread.start()
            threads.append(thread)
            here.pop()
    try:
        for job in here:
            do(job)
    finally:  # also where somebody presses Ctrl-C: what they work at may be used again
        for thread in threads:
            thread.join()
    if errors:
        raise errors[0]
