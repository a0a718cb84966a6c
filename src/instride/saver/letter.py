"""What goes to the writer for one save."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import msgspec
import torch

from instride.errors import InstrideError
from instride.saver.pending import Pending, Purpose, SavedCheckpoint
from instride.saver.telling import Telling
from instride.store.manifest import Timings, versions_here
from instride.writer.protocol import Begin, Committed, Finish


class Letter:
    """What goes to the writer for one save, kept until it is answered: it may have to go again."""

    def __init__(self, begin: Begin, answer: Callable[[Committed | InstrideError], None]) -> None:
        self.begin = begin
        self.finish: Finish | None = None
        self.answer = answer
        self.num_tries = 0
        self.is_cancelled = False
        self.is_awaited = False
        """Somebody waits for it: every writer that gets it has to know."""
        self._settled = threading.Event()

    @property
    def is_settled(self) -> bool:
        """Answered, or never sent: the writer does not touch the arena for it any more."""
        return self._settled.is_set()

    def await_settled(self, timeout: float) -> bool:
        return self._settled.wait(timeout)

    def settle(self) -> None:
        self._settled.set()


def settle(
    pending: Pending,
    purpose: Purpose,
    timings: Timings,
    answer: Committed | InstrideError,
    telling: Telling,
) -> None:
    """What the writer answered, for whoever holds the save."""
    if pending.done:
        return  # it was given up, and said so
    if isinstance(answer, InstrideError):
        pending.fail(answer)
        telling.of(answer, pending.called_at)
        return
    telling.it_works()
    timings = msgspec.structs.replace(timings, staged_s=answer.staged_s, durable_s=answer.durable_s)
    pending.commit(SavedCheckpoint(purpose.path, purpose.step, answer.size_bytes, timings))


def finish_of(id: int, purpose: Purpose, called_s: float, timings: Timings) -> Finish:
    """What is known of a snapshot before it is pickled."""
    return Finish(
        id,
        small={},
        step=purpose.step,
        metric=purpose.metric,
        unsafe=[],
        versions=dict(versions_here(str(torch.__version__))),
        created_s=time.time(),
        called_s=called_s,
        staged_s=0.0,
        call_s=timings.call_s,
        waited_s=timings.waited_s,
    )
