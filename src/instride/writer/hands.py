"""Threads that yield to everybody, and help for them once somebody waits."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress

from instride.governor.governing import Governor
from instride.governor.pace import Pace
from instride.governor.spare_cores import IdleWatch
from instride.governor.yielding import yield_thread
from instride.store.manifest import PIECE_BYTES
from instride.store.staggering import MOST_THREADS, most_threads
from instride.writer.rhythm import Rhythm


class _Hands:
    """Threads that do pieces of one work until none is left, or one of them fails."""

    def __init__(
        self, do_one: Callable[[], bool], turn_bytes: int, pace: Pace, num_hands: int
    ) -> None:
        self._do_one = do_one
        self._turn_bytes = turn_bytes
        self._pace = pace
        self._num_hands = num_hands
        """Of each kind: those that yield, those that take the budget, and those that hurry."""
        self._errors: list[BaseException] = []
        self._num_at_work = 0
        self._is_over = False
        self._changed = threading.Condition()

    def start(self) -> None:
        for _ in range(self._num_hands):
            self._start(self._work)

    def start_idle(self) -> None:
        for _ in range(self._num_hands):
            self._start(self._work_idly)

    def start_steady(self, share: float, has_idled: Callable[[], bool]) -> None:
        """Hands that take so much of the time whether or not others leave any; and those that
        yield, as soon as there is something for them.

        Where there is not, one of those would stand in the middle of a piece, and with the lock of
        the interpreter, for as long as it pleases the training."""
        may_start_idle = True

        def look() -> None:
            nonlocal may_start_idle
            if may_start_idle and has_idled():
                may_start_idle = False
                with suppress(RuntimeError):  # no more threads are allowed: these suffice
                    self.start_idle()

        look()
        rhythm = Rhythm(self._num_hands, share, look)
        try:
            for _ in range(self._num_hands):
                self._start(lambda: self._work_in_rhythm(rhythm))
        except BaseException:
            rhythm.end()  # those that did start would wait for the others for ever
            raise

    def _start(self, work: Callable[[], None]) -> None:
        # Counted before it runs: it may have a piece in hand before anybody else knows of it.
        self._count(1)
        try:
            threading.Thread(target=self._until_over, args=(work,), daemon=True).start()
        except BaseException:
            self._count(-1)
            raise

    def fail(self, error: BaseException) -> None:
        """Let the hands that there are end with the piece that they are at."""
        with self._changed:
            self._errors.append(error)
            self._is_over = True
            self._changed.notify_all()

    def _count(self, change: int) -> None:
        with self._changed:
            self._num_at_work += change
            self._changed.notify_all()

    def wait(self) -> None:
        """Until no hand has a piece any more."""
        with self._changed:
            self._changed.wait_for(lambda: self._num_at_work == 0)

    @property
    def is_at_rest(self) -> bool:
        with self._changed:
            return self._num_at_work == 0

    def raise_error(self) -> None:
        if self._errors:
            raise self._errors[0]

    def _until_over(self, work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # raised again by raise_error(), whatever it is
            self._errors.append(error)
        finally:
            self._is_over = True
            self._count(-1)

    def _work(self) -> None:
        while not self._errors and self._take_turn():
            pass

    def _work_idly(self) -> None:
        yield_thread()
        self._work()

    def _work_in_rhythm(self, rhythm: Rhythm) -> None:
        try:
            while not self._is_over:
                begun_s = time.thread_time()
                if not self._take_turn(is_extra=True):
                    return
                pause_s = rhythm.pause_s(time.thread_time() - begun_s)
                with self._changed:
                    self._changed.wait_for(lambda: self._is_over, pause_s)
        except threading.BrokenBarrierError:
            return  # another one found nothing to do any more
        finally:
            rhythm.end()

    def _take_turn(self, *, is_extra: bool = False) -> bool:
        with self._pace.turn(self._turn_bytes, is_extra=is_extra) as turn:
            has_done = self._do_one()
            if not has_done:
                turn.num_bytes = 0
            return has_done


class Crew:
    """Does work piece by piece, yielding as long as nobody waits for it.

    Threads that yield get next to nothing on a machine that is never idle. Others, which do not,
    take `steady_share` of the time: little enough for nobody to feel, and the work ends.
    """

    def __init__(
        self,
        pace: Pace | None = None,
        governor: Governor | None = None,
        steady_share: float | None = None,
    ) -> None:
        self._lock = threading.Lock()
        self._hands: _Hands | None = None
        self._is_waited_for = False
        self._is_for_good = False
        self._pace = pace or Pace()
        self._governor = governor
        self._steady_share = steady_share
        self._cores = IdleWatch()
        self.deadline_s: float | None = None
        """When what is being done should be done, by the monotonic clock."""

    @property
    def is_steady(self) -> bool:
        """Whether all work comes to its end, also where nobody leaves it anything."""
        return self._steady_share is not None

    def run(
        self,
        do_one: Callable[[], bool],
        *,
        num_bytes: int = 0,
        turn_bytes: int = PIECE_BYTES,
        is_awaited: bool = False,
        most_hands: int = MOST_THREADS,
    ) -> None:
        """Call `do_one` from several threads, for `turn_bytes` of `num_bytes` each time, until it
        returns False; raise what any of them raises. What the training itself waits for is not
        governed."""
        governor = None if is_awaited else self._governor
        num_hands = min(most_hands, most_threads())
        if governor is not None:
            governor.begin(num_bytes, self.deadline_s, most_threads=num_hands)
        try:
            hands = _Hands(do_one, turn_bytes, self._pace, num_hands)
            self._run(hands, is_awaited=is_awaited)
        finally:
            if governor is not None:
                governor.end()

    def look_anew(self) -> None:
        """Something else than work in turns kept the disk busy, and it was none of others."""
        if self._governor is not None:
            self._governor.look_anew()

    def _run(self, hands: _Hands, *, is_awaited: bool) -> None:
        with self._lock:
            self._hands = hands
            try:
                self._start(hands, is_awaited=is_awaited)
            except BaseException as error:  # some may be at work all the same, and are waited for
                hands.fail(error)
        hands.wait()
        while not self._has_let_go(hands):  # somebody has just come to help
            hands.wait()
        hands.raise_error()

    def _has_let_go(self, hands: _Hands) -> bool:
        """From here on nobody comes to help with what is done: there would be nobody to wait for
        them, or to hear of their errors."""
        with self._lock:
            if not hands.is_at_rest:
                return False
            if self._hands is hands:  # and not those of other work, begun by another thread
                self._hands = None
            return True

    def _start(self, hands: _Hands, *, is_awaited: bool) -> None:
        if is_awaited or self._is_waited_for:
            hands.start()
        elif self._steady_share is None:
            hands.start_idle()
        else:
            hands.start_steady(self._steady_share, self._cores.has_idled)

    def hurry(self, *, for_good: bool = False) -> None:
        """Add hands that do not yield, now and for what comes, until `relax`, or for good.

        A thread cannot leave the idle class by itself: that is why there are new ones.
        """
        with self._lock:
            self._is_for_good |= for_good
            if not self._is_waited_for and self._hands is not None:
                with suppress(RuntimeError):  # no more threads are allowed: those go on
                    self._hands.start()
            self._is_waited_for = True
            self._pace.hurry()

    def relax(self) -> None:
        """Nobody waits any more, unless it is for the end of all."""
        with self._lock:
            if not self._is_for_good:
                self._is_waited_for = False
                self._pace.relax()
