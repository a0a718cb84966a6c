"""A failure in any of the threads that work is the failure of the work."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from instride.store.staggering import most_threads
from instride.writer import hands
from instride.writer.hands import Crew
from tests.unit.writer.failing_pieces import Pieces


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
