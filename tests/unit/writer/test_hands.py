"""A failure in any of the threads that work is the failure of the work."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from instride.governor.pace import Pace, Setting
from instride.store.staggering import most_threads
from instride.writer import hands
from instride.writer.hands import Crew


class Pieces:
    """Work in which each thread does one piece, and one of them fails."""

    def __init__(self, failing: int) -> None:
        self._failing = failing
        self._together = threading.Barrier(most_threads())
        self._order = threading.Lock()
        self._threads: list[int] = []

    def do_one(self) -> bool:
        with self._order:
            if threading.get_ident() in self._threads:
                return False
            place = len(self._threads)
            self._threads.append(threading.get_ident())
        self._together.wait(60)  # so that it is another thread each time
        if place == self._failing:
            raise OSError(28, "No space left on device")
        return True


@pytest.mark.parametrize("is_hurried", [False, True])
@pytest.mark.parametrize("failing", range(most_threads()))
def test_an_error_in_each_of_the_threads_is_raised(failing: int, is_hurried: bool) -> None:
    crew = Crew()
    if is_hurried:
        crew.hurry()

    with pytest.raises(OSError, match="No space left"):
        crew.run(Pieces(failing).do_one)


def test_work_without_an_error_ends_when_no_piece_is_left() -> None:
    left = list(range(100))
    order = threading.Lock()
    done = []

    def do_one() -> bool:
        with order:
            if not left:
                return False
            done.append(left.pop())
            return True

    Crew().run(do_one)

    assert sorted(done) == list(range(100))


def test_an_error_of_threads_that_came_to_help_is_raised_too() -> None:
    crew = Crew()
    has_started, has_helped = threading.Event(), threading.Event()
    first: set[int] = set()

    def do_one() -> bool:
        if not has_started.is_set():
            first.add(threading.get_ident())
            has_started.set()
        if threading.get_ident() in first:
            assert has_helped.wait(60)
            return False
        has_helped.set()
        raise OSError(5, "Input/output error")

    def help_out() -> None:
        assert has_started.wait(60)
        crew.hurry()

    helper = threading.Thread(target=help_out)
    helper.start()
    with pytest.raises(OSError, match="Input/output"):
        crew.run(do_one)
    helper.join()


def test_a_hand_that_came_to_help_is_waited_for_from_its_first_piece_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The helper has the last piece before the one who called it knows that it runs."""
    all_there = threading.Barrier(most_threads() + 1)
    taken, gone, done = threading.Event(), threading.Event(), threading.Event()
    order = threading.Lock()
    is_helping = threading.Event()

    def do_one() -> bool:
        if not is_helping.is_set():
            all_there.wait(60)
            gone.wait(60)
            return False
        with order:
            if taken.is_set():
                return False
            taken.set()
        worker.join(1.0)  # whoever did not wait for this piece has ended by then
        done.set()
        return True

    was_done: list[bool] = []

    def work() -> None:
        crew.run(do_one)
        was_done.append(done.is_set())

    start = threading.Thread.start

    def start_slowly(thread: threading.Thread) -> None:
        start(thread)
        taken.wait(60)
        gone.set()
        worker.join(1.0)

    crew = Crew()
    worker = threading.Thread(target=work)
    worker.start()
    all_there.wait(60)
    is_helping.set()
    monkeypatch.setattr(threading.Thread, "start", start_slowly)
    crew.hurry()
    worker.join(60)
    assert was_done == [True]


def test_who_waits_for_the_end_is_not_relaxed_away() -> None:
    pace = Pace()
    saving, packing = Crew(pace), Crew(pace)  # as the writer has them
    saving.hurry()
    saving.relax()
    assert not pace.is_hurried
    saving.hurry(for_good=True)
    saving.relax()
    packing.hurry(for_good=True)
    saving.relax()
    assert pace.is_hurried


def test_work_ends_where_threads_that_yield_get_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    fed = threading.Event()
    monkeypatch.setattr(hands, "yield_thread", lambda: fed.wait(60))
    pieces = iter(range(10))
    doers: list[int] = []

    def do_one() -> bool:
        if next(pieces, None) is None:
            pace.set(Setting())
            fed.set()
            return False
        doers.append(threading.get_ident())
        return True

    pace = Pace()
    pace.set(Setting(threads=0))  # as if the others sat in the middle of a piece
    crew = Crew(pace, steady_share=0.5)
    crew.run(do_one)
    assert len(doers) == 10
    assert len(set(doers)) <= most_threads()  # and not those that yield


def nothing_idles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("instride.writer.hands.IdleWatch.has_idled", lambda self: False)


def test_nobody_yields_where_nothing_would_be_left_for_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """They would stand still with a piece in hand, and with the lock of the interpreter."""
    nothing_idles(monkeypatch)
    yielded: list[int] = []
    monkeypatch.setattr(hands, "yield_thread", lambda: yielded.append(1))
    pieces = iter(range(10))
    Crew(steady_share=0.9).run(lambda: next(pieces, None) is not None)
    assert next(pieces, None) is None
    assert not yielded


def test_those_who_yield_come_as_soon_as_something_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    has_come = threading.Event()
    looks = iter([False, False, True])
    monkeypatch.setattr("instride.writer.hands.IdleWatch.has_idled", lambda self: next(looks, True))
    monkeypatch.setattr(hands, "yield_thread", has_come.set)
    Crew(steady_share=0.9).run(lambda: not has_come.is_set())


@pytest.mark.skipif(most_threads() == 1, reason="a machine with one core")
def test_who_is_steady_takes_all_cores_at_the_same_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing_idles(monkeypatch)
    together = threading.Barrier(most_threads())
    turns = iter(range(5 * most_threads()))
    order = threading.Lock()

    def do_one() -> bool:
        with order:
            if next(turns, None) is None:
                return False
        together.wait(60)  # BrokenBarrierError if another one is pausing meanwhile
        return True

    Crew(steady_share=0.9).run(do_one)
    assert next(turns, None) is None


@pytest.mark.parametrize("failing", range(most_threads()))
def test_an_error_of_one_who_is_steady_ends_all_of_them(
    failing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing_idles(monkeypatch)
    with pytest.raises(OSError, match="No space left"):
        Crew(steady_share=0.5).run(Pieces(failing).do_one)


def test_who_is_steady_pauses_with_all_others() -> None:
    pace = Pace()
    pace.set(Setting(is_open=False))
    crew = Crew(pace, steady_share=0.5)
    done = threading.Event()

    def do_one() -> bool:
        done.set()
        return False

    runner = threading.Thread(target=crew.run, args=(do_one,))
    runner.start()
    while not pace.is_waiting:
        pass
    assert not done.is_set()
    pace.set(Setting())
    runner.join(60)
    assert done.is_set()


def test_next_to_no_share_of_a_core_is_a_share() -> None:
    pieces = iter(range(20))
    Crew(steady_share=1e-15).run(lambda: next(pieces, None) is not None)
    assert next(pieces, None) is None


@pytest.mark.parametrize("num_allowed", range(2 * most_threads()))
@pytest.mark.parametrize("share", [None, 0.5])
def test_where_no_more_threads_are_allowed_work_ends_before_the_error_is_told(
    share: float | None, num_allowed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a thread would go on writing to a file that is closed, or to the next one."""
    start = threading.Thread.start
    allowed = iter(range(num_allowed))

    def start_if_allowed(thread: threading.Thread) -> None:
        if next(allowed, None) is None:
            raise RuntimeError("can't start new thread")
        start(thread)

    at_work: set[int] = set()

    def do_one() -> bool:
        at_work.add(threading.get_ident())
        has_tried.wait(60)
        at_work.discard(threading.get_ident())
        return False

    has_tried = threading.Event()
    monkeypatch.setattr(threading.Thread, "start", start_if_allowed)
    monkeypatch.setattr(hands._Hands, "fail", told(hands._Hands.fail, has_tried))
    crew = Crew(steady_share=share)
    if num_allowed >= (most_threads() if share is None else 2 * most_threads()):
        has_tried.set()
        crew.run(do_one)
    else:
        with pytest.raises(RuntimeError, match="new thread"):
            crew.run(do_one)
    assert not at_work


def told(
    fail: Callable[[hands._Hands, BaseException], None], event: threading.Event
) -> Callable[[hands._Hands, BaseException], None]:
    def noted(self: hands._Hands, error: BaseException) -> None:
        fail(self, error)
        event.set()

    return noted


def test_what_training_waits_for_yields_to_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing_idles(monkeypatch)
    monkeypatch.setattr(hands, "yield_thread", lambda: pytest.fail("it yields"))
    monkeypatch.setattr(hands._Hands, "start_steady", lambda *_: pytest.fail("it pauses"))
    pieces = iter(range(10))
    Crew(steady_share=0.01).run(lambda: next(pieces, None) is not None, is_awaited=True)
    assert next(pieces, None) is None


def test_turns_in_which_nothing_was_left_to_do_count_for_nothing() -> None:
    pace = Pace()
    pieces = iter(range(10))
    Crew(pace).run(lambda: next(pieces, None) is not None, turn_bytes=3)
    assert pace.tally().num_bytes == 30
