"""Several things at a time: all come to their end, whatever happens to one."""

from __future__ import annotations

import threading

import pytest

from instride.snapshot.together import together

pytestmark = pytest.mark.torch


def test_all_are_done_at_the_same_time() -> None:
    meeting = threading.Barrier(3, timeout=30)

    def meet() -> None:
        meeting.wait()

    together(meet, meet, meet)


def test_each_of_several_is_done_in_a_modest_thread_and_one_alone_in_this_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """This one is as it was made, and may take a core from the thread that trains."""
    modest: list[int] = []
    seen: list[int] = []
    monkeypatch.setattr(
        "instride.snapshot.together.make_thread_modest",
        lambda preempts: modest.append(threading.get_ident()),
    )
    together(*[lambda: seen.append(threading.get_ident())] * 3)
    assert sorted(seen) == sorted(modest)
    assert threading.get_ident() not in seen
    seen.clear()
    together(lambda: seen.append(threading.get_ident()))
    assert seen == [threading.get_ident()]


def test_an_error_is_raised_once_all_are_done() -> None:
    done = []

    def fail() -> None:
        raise OSError("of one")

    with pytest.raises(OSError, match="of one"):
        together(lambda: done.append(1), fail, lambda: done.append(2))
    assert sorted(done) == [1, 2]


def test_where_no_thread_can_be_started_all_is_done_in_this_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As at the end of a program."""

    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't create new thread at interpreter shutdown")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    seen = []
    together(*[lambda: seen.append(threading.get_ident())] * 4)
    assert seen == [threading.get_ident()] * 4


def test_nothing_to_do_is_no_error() -> None:
    together()
