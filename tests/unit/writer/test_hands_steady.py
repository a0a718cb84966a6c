"""Hands that take the budget: when they come, and with whom they pause."""

from __future__ import annotations

import threading

import pytest

from instride.governor.pace import Pace, Setting
from instride.store.staggering import most_threads
from instride.writer import hands
from instride.writer.hands import Crew
from tests.unit.writer.failing_pieces import Pieces


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
