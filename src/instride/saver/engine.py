"""From a tree of state to a snapshot on its way: freeze, copy, hand over."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from pathlib import Path

from instride.errors import (
    InstrideError,
    SaveFailedError,
    SaveSkippedError,
)
from instride.faults import reached
from instride.saver.courier import Courier
from instride.saver.leaving import close_at_exit, is_exiting, let_go_in_children
from instride.saver.letter import Letter, finish_of, settle
from instride.saver.options import Options
from instride.saver.outcomes import Outcomes
from instride.saver.patience import Watch
from instride.saver.pending import Pending, Purpose, closed, forked, is_sayable
from instride.saver.posting import Outgoing, Poster
from instride.saver.staged import Staged
from instride.saver.staging import Stager
from instride.saver.telling import Telling
from instride.saver.turns import Turns
from instride.snapshot.late import Promise
from instride.store.manifest import Timings
from instride.writer.protocol import Notice


class BackgroundEngine:
    """One arena, one writer, one save in flight."""

    def __init__(
        self,
        directory: Path | None,
        options: Options,
    ) -> None:
        self._when_busy = options.when_busy
        self._telling = Telling()
        try:
            with ExitStack() as undoing:
                self._stager = Stager(options.memory_bytes)
                undoing.callback(self._stager.close)
                self.page = self._stager.page
                self.courier = Courier(
                    directory, options, self.page, self._stager.arena.fds, self._on_notice
                )
                undoing.callback(self.courier.close)
                self._poster = Poster(self.courier, self._telling)
                undoing.pop_all()
        except (OSError, RuntimeError) as error:  # no descriptors, no memory, no threads
            where = directory or "checkpoint"
            raise SaveFailedError(where, str(error), hint="hint.limits") from error
        self._watch = Watch(self.courier, self.page, options.stall_s)
        self._turns = Turns()
        self._next_id = 1
        self._in_flight: Letter | None = None
        self._outcomes = Outcomes(self._telling)
        self._owner_pid = os.getpid()
        self._has_let_go = False
        let_go_in_children(self)
        close_at_exit(self)

    def follow(self, promises: Callable[[], Promise], has_stepped: Callable[[], bool]) -> None:
        """Somebody calls `fence` before what they promise changes, and knows when it first did."""
        self._stager.promises, self._stager.has_stepped = promises, has_stepped

    def fence(self) -> None:
        if not self._has_let_go:
            self._stager.fence()

    def give_way(self) -> None:
        self._stager.give_way()

    def mark_step(self) -> None:
        self._stager.mark_step()

    @property
    def is_late(self) -> bool:
        return self._stager.is_late

    @property
    def prepare_cost_s(self) -> float:
        """How long training may have been held up on a GPU because memory was locked for it."""
        return self._stager.prepare_cost_s

    @property
    def problem(self) -> str | None:
        """Why nothing can be written into the store."""
        return self.courier.claim.problem

    @property
    def waits_for(self) -> int | None:
        """The pid of a writer that still works for a dead trainer."""
        return self.courier.claim.waits_for

    def await_store(self, timeout: float) -> bool:
        """Wait until the writer owns the store. Raises StoreInUseError if somebody else does."""
        return self.courier.claim.await_known(timeout)

    def await_saved(self) -> InstrideError | None:
        """Wait for the save in flight, as long as that makes progress; why the last one is not
        committed."""
        last, letter = self._outcomes.last, self._in_flight
        if last is None or letter is None or self.is_closed or self._owner_pid != os.getpid():
            return self._outcomes.failed  # in a child nobody would answer
        trouble = self._watch.for_answer(letter, last)
        return trouble or last.error or self._outcomes.failed

    def prepare(self, tree: object, *, detached: bool) -> None:
        """Plan ahead and ask for memory, so that the first save is as quick as the others."""
        with self._turns.take() as is_ours:
            if is_ours and not self.is_closed and not self._has_let_go:
                self._stager.prepare(tree, detached=detached)

    def await_prepared(self, timeout: float) -> None:
        self._stager.await_ready(timeout)

    def resting(self) -> AbstractContextManager[None]:
        return self._stager.resting()

    def save(self, tree: object, purpose: Purpose, *, detached: bool) -> Pending:
        """Take a snapshot. Returns when it is taken; never raises for what the disk does."""
        pending = Pending(purpose.path, purpose.step)
        with self._outcomes.of(pending):
            self._take(tree, purpose, pending, detached=detached)
        return pending

    def _take(self, tree: object, purpose: Purpose, pending: Pending, *, detached: bool) -> None:
        """Raises why not."""
        called_s = time.monotonic()
        if self._owner_pid != os.getpid():
            raise forked(purpose.path)
        if not is_sayable(purpose.path):
            raise SaveFailedError(ascii(str(purpose.path)), "its name is not UTF-8")
        with self._turns.take() as is_ours:
            if not is_ours:
                raise SaveSkippedError(purpose.path, is_inside=True)
            self._refuse_if_closed(purpose.path)
            self._await_arena(purpose.path)
            self._stage(tree, purpose, pending, detached, called_s)

    def _refuse_if_closed(self, path: Path) -> None:
        if self.is_closed:
            raise closed(path)

    def _stage(
        self, tree: object, purpose: Purpose, pending: Pending, detached: bool, called_s: float
    ) -> None:
        id = self._next_id
        self._next_id += 1
        pending.on_wait = partial(self.courier.hurry, id)
        timings = [Timings()]
        waited_s = time.monotonic() - called_s
        letter: Letter | None = None
        try:
            staged = self._stager.take(tree, detached=detached, allow_strange=not purpose.strict)
            if staged.said is not None:
                # While it can still be undone: where warnings are errors, this raises.
                self.warn_once("torch.save", staged.said)
            letter = Letter(
                staged.begin(id, str(purpose.path)),
                lambda answer: settle(pending, purpose, timings[0], answer, self._telling),
            )
            if staged.streams:
                waited_s += self._stream(letter, staged, pending)
            reached("copied")
            timings[0] = Timings(time.monotonic() - called_s, waited_s)
            finish = finish_of(id, purpose, called_s, timings[0])
            self._refuse_if_closed(purpose.path)  # by a signal handler, while it was copied
            self._in_flight = letter
            self._outcomes.handed_over(pending)
            self._poster.put(Outgoing(pending, letter, staged, finish))
        except BaseException:
            if letter is not None:
                self.courier.cancel(letter)
            self._poster.await_idle()  # it may have it already, and bring it to its end
            self._stager.abandon()
            raise
        if is_exiting():  # nobody may come to close it any more
            pending.hurry()
            self._watch.for_letter(letter, purpose.path, is_closing=True)

    def _stream(self, letter: Letter, staged: Staged, pending: Pending) -> float:
        """Send a snapshot through the arena, as long as the writer takes it; the seconds waited."""
        self._in_flight, self._outcomes.last = letter, pending
        self.courier.send_begin(letter)
        return staged.stream(self._watch.over_stream(letter, pending.path))

    def _await_arena(self, path: Path) -> None:
        """Wait for the snapshot before to be durable, as long as that makes progress. Raises why
        there is no more waiting for it."""
        before = self._in_flight
        if before is None or (before.is_settled and self._poster.is_idle):
            return
        last = self._outcomes.last
        if self._when_busy == "skip":
            trouble = None if last is None else self._watch.at_a_glance(before, last)
            raise trouble or SaveSkippedError(path, is_full=self.courier.is_blocked)
        if last is not None:
            last.hurry()
        trouble = self._watch.for_letter(before, path)
        if trouble is not None:
            raise trouble
        self._poster.await_idle()

    @property
    def is_closed(self) -> bool:
        return self._turns.is_closed

    def close(self) -> InstrideError | None:
        """Wait for the save in flight; the error it ended with, if any."""
        if self._owner_pid != os.getpid():
            return None
        try:
            return self._turns.close(self._close)
        finally:
            if is_exiting():  # somebody may have been interrupted while they closed it
                self._stager.stop_preparing()
                self._stager.await_stopped()

    def _close(self) -> InstrideError | None:
        self._stager.stop_preparing()
        self._poster.finish()  # the last snapshot is handed over before the writer is told to end
        letter = self._in_flight
        if letter is not None and letter.finish is None:
            self.courier.cancel(letter)  # a signal handler interrupts the stream
        self.courier.close()
        trouble = self._watch.for_last(letter, self._outcomes.last)
        is_free = letter is None or letter.is_settled
        if is_free and not self._turns.is_taken:
            self._stager.close()  # else another writer may need it: the snapshot is only there
        return self._outcomes.at_end(trouble)

    def _on_notice(self, notice: Notice) -> None:
        self.warn_once(notice.id, f"{notice.text}\n\nhint: {notice.hint}")

    def warn_once(self, kind: str, text: str) -> None:
        self._telling.once(kind, text)

    def let_go(self) -> None:
        """In a forked child: hold neither the line nor the memory, and ask for none."""
        if self._has_let_go:
            return  # in a child of a child the descriptors may be somebody else's by now
        self._has_let_go = True
        self.courier.close_in_child()
        self._stager.close_in_child()
