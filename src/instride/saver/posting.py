"""Off the training thread: a snapshot is pickled and handed over."""

from __future__ import annotations

import queue
import threading
import time
from typing import NamedTuple

import msgspec

from instride.errors import SaveFailedError
from instride.faults import reached
from instride.saver.courier import Courier
from instride.saver.letter import Letter
from instride.saver.pending import Pending
from instride.saver.staged import Staged
from instride.saver.telling import Telling
from instride.system.interpreter import giving_way
from instride.writer.protocol import Finish

WATCH_S = 0.05
"""How often whoever waits for the thread looks whether it is there."""


class Outgoing(NamedTuple):
    """A snapshot that is in the arena, and what is still to be sent."""

    pending: Pending
    letter: Letter
    staged: Staged
    finish: Finish


class Poster:
    """The thread that pickles and hands over, one snapshot after the other."""

    def __init__(self, courier: Courier, telling: Telling) -> None:
        self._courier = courier
        self._telling = telling
        self._outbox: queue.SimpleQueue[tuple[int, Outgoing | threading.Event] | None]
        self._outbox = queue.SimpleQueue()
        self._num_put = 0
        self._num_done = 0
        self._thread = threading.Thread(target=self._post, daemon=True)
        self._thread.start()

    def put(self, item: Outgoing) -> None:
        """Of one at a time: the arena has room for no other."""
        self._num_put += 1
        self._outbox.put((self._num_put, item))

    @property
    def is_idle(self) -> bool:
        """Whether nothing is on its way into the arena. A writer may have answered before."""
        return self._num_done == self._num_put

    def await_idle(self) -> None:
        """Until all that was put is done with. Whoever was interrupted may have put something, or
        only said so: what comes behind it in the queue knows."""
        behind = threading.Event()
        self._outbox.put((self._num_put, behind))
        while self._thread.is_alive() and not behind.wait(WATCH_S):
            pass  # a saver that was closed meanwhile has nobody who would come to it

    def finish(self) -> None:
        """Wait until everything is handed over."""
        self._outbox.put(None)
        self._thread.join()

    def _post(self) -> None:
        while (entry := self._outbox.get()) is not None:
            self._deal_with(*entry)
            # Not until there is another one: what it was copied with may be needed before that.
            del entry

    def _deal_with(self, number: int, item: Outgoing | threading.Event) -> None:
        if isinstance(item, Outgoing):
            try:
                self._post_one(item)
            finally:
                self._num_done = number
        else:
            self._num_done = number  # first: who is woken may put the next one
            item.set()

    def _post_one(self, item: Outgoing) -> None:
        try:
            self._send(*item)
        except Exception as error:  # a state that cannot be pickled fails in its own way
            failed = SaveFailedError.of(item.pending.path, error)
            item.pending.fail(failed)  # before the writer says that not all has come
            self._courier.cancel(item.letter)
            self._telling.of(failed, item.pending.called_at)

    def _begin(self, pending: Pending, letter: Letter) -> None:
        if not letter.begin.streams:
            self._courier.send_begin(letter)
        if pending.is_awaited:
            self._courier.hurry(letter.begin.id)  # there was nothing to hurry before

    def _send(self, pending: Pending, letter: Letter, staged: Staged, finish: Finish) -> None:
        reached("submitted")
        if staged.arrives:
            self._begin(pending, letter)
        with giving_way():
            small, unsafe = staged.small_records()
        if not staged.arrives:
            self._begin(pending, letter)
        reached("pickled")
        if unsafe:
            self._telling.of_unsafe(unsafe, letter.begin.path, pending.called_at)
        self._courier.send_finish(
            letter,
            msgspec.structs.replace(finish, small=small, unsafe=unsafe, staged_s=time.monotonic()),
        )
