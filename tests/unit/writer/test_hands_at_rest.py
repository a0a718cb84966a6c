"""Hands that have ended are left alone, and those of other work are not taken for them."""

from __future__ import annotations

import threading
from contextlib import nullcontext

import pytest

from instride.store.staggering import most_threads
from instride.writer import hands
from instride.writer.hands import Crew


@pytest.mark.parametrize("error", [None, OSError(5, "Input/output error")])
def test_nobody_comes_to_help_with_work_that_is_done(
    error: OSError | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody would wait for them, nor hear what they raise."""

    def do_one() -> bool:
        if error is not None:
            raise error
        return False

    crew = Crew()
    with nullcontext() if error is None else pytest.raises(OSError, match="Input/output"):
        crew.run(do_one)
    monkeypatch.setattr(hands._Hands, "start", lambda *_: pytest.fail("there is nothing to do"))
    crew.hurry()


def test_who_has_work_is_not_taken_for_another_who_has_ended() -> None:
    """As of a pack that was given up: its hands end when those of the next one are at work."""
    crew = Crew()
    is_first, may_end, has_helped = threading.Event(), threading.Event(), threading.Event()

    def first() -> bool:
        is_first.set()
        may_end.wait(60)
        return False

    helpers: set[int] = set()
    order = threading.Lock()
    second_begun = threading.Event()

    def second() -> bool:
        with order:
            helpers.add(threading.get_ident())
            second_begun.set()
            if len(helpers) > most_threads():
                has_helped.set()
        has_helped.wait(60)
        return False

    runners = [threading.Thread(target=crew.run, args=(do_one,)) for do_one in (first, second)]
    runners[0].start()
    assert is_first.wait(60)
    runners[1].start()
    assert second_begun.wait(60)
    may_end.set()
    runners[0].join(60)
    crew.hurry()
    runners[1].join(60)
    assert has_helped.is_set()
