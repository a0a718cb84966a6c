"""An arena that grows, is closed, or is left to a forked child."""

from __future__ import annotations

import os
import threading
import warnings
from typing import Any

import pytest

from instride.snapshot.arena import Arena
from instride.snapshot.pages import CHECK_BYTES
from instride.store.manifest import PIECE_BYTES
from instride.system import striped
from tests.unit.snapshot.mapped import stripes_mapped

pytestmark = pytest.mark.torch


def test_what_an_arena_holds_survives_its_growth(arena: Arena) -> None:
    arena.grow(4 * PIECE_BYTES)
    arena.memory[:8] = 7
    before = arena.memory

    arena.grow(5 * PIECE_BYTES)
    arena.memory[8] = 8

    assert arena.memory[:9].tolist() == [7] * 8 + [8]
    assert before[8] == 8  # both are the same memory


def test_an_arena_that_is_closed_does_not_grow_any_more() -> None:
    arena = Arena()
    arena.close()

    arena.grow(PIECE_BYTES)
    arena.populate()

    assert arena.num_bytes == 0


def test_a_child_that_is_forked_while_it_grows_lets_go_of_it_all(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread that maps stripe by stripe is not there to do so to the end."""
    is_half_mapped, go_on = threading.Event(), threading.Event()
    num_mapped, num_before = 0, stripes_mapped()
    really = striped._map

    def slowly(*what: Any) -> int:
        nonlocal num_mapped
        num_mapped += 1
        if num_mapped == 4:
            is_half_mapped.set()
            go_on.wait(60)
        return really(*what)

    monkeypatch.setattr(striped, "_map", slowly)
    growing = threading.Thread(target=arena.grow, args=(8 * CHECK_BYTES,))
    growing.start()
    assert is_half_mapped.wait(60)
    num_here = stripes_mapped() - num_before
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads
        pid = os.fork()
    if pid == 0:
        num_in_child = stripes_mapped()  # without those of a Saver that other tests have left
        arena.close_in_child()
        os._exit(stripes_mapped() + num_here - num_in_child)
    _, status = os.waitpid(pid, 0)
    go_on.set()
    growing.join(60)

    assert num_here == 2
    assert os.waitstatus_to_exitcode(status) == 0
