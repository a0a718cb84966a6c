"""The pace under real threads: nothing here waits by the clock."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from instride.governor.pace import Allowance, Pace, Setting, StoppedError

LIMIT_S = 30.0
"""After which a test that hangs fails."""


class Crowd:
    """Threads that each take one turn, and stay in it until they are let go."""

    def __init__(self, pace: Pace, size: int) -> None:
        self.entered = threading.Semaphore(0)
        self.release = threading.Event()
        self.stopped: list[StoppedError] = []
        self._pace = pace
        self._threads = [threading.Thread(target=self._work) for _ in range(size)]
        self._lock = threading.Lock()
        self._inside = 0
        self.most_inside = 0
        for thread in self._threads:
            thread.start()

    def _work(self) -> None:
        try:
            with self._pace.turn(1):
                with self._lock:
                    self._inside += 1
                    self.most_inside = max(self.most_inside, self._inside)
                self.entered.release()
                self.release.wait(LIMIT_S)
                with self._lock:
                    self._inside -= 1
        except StoppedError as error:
            self.stopped.append(error)

    def await_entered(self, count: int) -> None:
        for _ in range(count):
            assert self.entered.acquire(timeout=LIMIT_S)

    def await_waiting(self) -> None:
        """Until somebody is held back."""
        for _ in range(100_000):
            if self._pace.is_waiting:
                return
            threading.Event().wait(0.0001)
        pytest.fail("nobody waits")

    def join(self) -> None:
        self.release.set()
        for thread in self._threads:
            thread.join(LIMIT_S)
            assert not thread.is_alive()


@contextmanager
def crowd(pace: Pace, size: int) -> Iterator[Crowd]:
    people = Crowd(pace, size)
    try:
        yield people
    finally:
        pace.hurry()
        people.join()


def test_a_pace_that_nobody_governs_never_blocks() -> None:
    pace = Pace()
    with crowd(pace, 8) as people:
        people.await_entered(8)
    assert people.most_inside == 8


def test_no_more_threads_are_at_work_than_allowed() -> None:
    pace = Pace()
    pace.set(Setting(threads=2))
    with crowd(pace, 6) as people:
        people.await_entered(2)
        people.await_waiting()
        people.release.set()
        people.await_entered(4)
        assert people.most_inside == 2


def test_a_pause_holds_back_and_its_end_lets_go() -> None:
    pace = Pace()
    pace.set(Setting(is_open=False))
    with crowd(pace, 3) as people:
        people.await_waiting()
        assert people.most_inside == 0
        pace.set(Setting())
        people.await_entered(3)


@pytest.mark.parametrize(
    "setting", [Setting(is_open=False), Setting(threads=1), Setting(bytes_per_s=1e-6)]
)
def test_hurry_lets_everybody_go_at_once(setting: Setting) -> None:
    pace = Pace()
    pace.set(setting)
    with crowd(pace, 4) as people:
        people.await_waiting()
        pace.hurry()
        people.await_entered(4)


def test_relax_holds_back_again() -> None:
    pace = Pace()
    pace.set(Setting(is_open=False))
    pace.hurry()
    with pace.turn(1):
        pass
    pace.relax()
    with crowd(pace, 1) as people:
        people.await_waiting()
        assert people.most_inside == 0


def test_what_was_done_in_a_hurry_is_not_paid_for_by_standing_still() -> None:
    pace = Pace()
    pace.set(Setting(bytes_per_s=1000.0))
    with pace.turn(1):
        pass
    pace.hurry()
    for _ in range(100):
        with pace.turn(1 << 20):
            pass
    pace.relax()
    with crowd(pace, 1) as people:
        people.await_entered(1)  # a hundred thousand seconds would be owed


def test_stop_ends_every_turn_that_waits_and_all_that_follow() -> None:
    pace = Pace()
    pace.set(Setting(is_open=False))
    people = Crowd(pace, 3)
    people.await_waiting()
    pace.stop()
    people.join()
    assert len(people.stopped) == 3
    with pytest.raises(StoppedError), pace.turn(1):
        pass


def test_the_tally_counts_what_was_done_also_where_it_failed() -> None:
    pace = Pace()
    with pace.turn(100):
        assert pace.is_active
    with pytest.raises(ZeroDivisionError), pace.turn(20):
        raise ZeroDivisionError
    assert pace.tally().num_bytes == 120
    assert not pace.is_active


def test_an_allowance_gives_its_bytes_per_second() -> None:
    allowance = Allowance()
    now_s = 100.0
    for _ in range(50):
        now_s += allowance.wait_s(now_s, 1000.0)
        allowance.take(400)
    assert now_s == pytest.approx(100.0 + 49 * 0.4)


def test_an_allowance_that_was_not_used_is_no_burst_later() -> None:
    allowance = Allowance()
    allowance.wait_s(0.0, 1000.0)
    allowance.take(1000)
    assert allowance.wait_s(3600.0, 1000.0) == 0.0
    allowance.take(1000)
    assert allowance.wait_s(3600.0, 1000.0) == pytest.approx(1.0)


def test_a_new_rate_counts_for_what_is_owed_already() -> None:
    allowance = Allowance()
    allowance.wait_s(0.0, 10.0)
    allowance.take(1000)
    assert allowance.wait_s(0.0, 10.0) == pytest.approx(100.0)
    assert allowance.wait_s(1.0, 990.0) == pytest.approx(10 / 990)
