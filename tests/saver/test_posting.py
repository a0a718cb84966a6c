"""The thread that hands snapshots over: whether something is still on its way into the arena."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from instride.saver.posting import Outgoing, Poster
from instride.saver.telling import Telling

pytestmark = pytest.mark.torch


class Held(threading.Event):
    """Wakes who waits for it, and keeps who has set it."""

    made: ClassVar[list[Held]] = []

    def __init__(self) -> None:
        super().__init__()
        self.made.append(self)
        self.go_on = threading.Event()

    def set(self) -> None:
        super().set()
        self.go_on.wait()


class Taken:
    """A snapshot that is on its way into the arena until it may arrive."""

    streams = arrives = False

    def __init__(self, ask: Any) -> None:
        self.begun = threading.Event()
        self.may_arrive = threading.Event()
        self._ask = ask
        self.looked_idle: bool | None = None

    def small_records(self) -> Any:
        self.looked_idle = self._ask()
        self.begun.set()
        self.may_arrive.wait()
        raise OSError("it was only to be looked at")


def test_what_was_waited_for_before_makes_no_later_snapshot_look_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    courier: Any = SimpleNamespace(cancel=lambda letter: None)
    telling: Any = SimpleNamespace(of=lambda error, saved_at: None)
    poster = Poster(courier, telling)
    with monkeypatch.context() as patching:
        patching.setattr("instride.saver.posting.threading", SimpleNamespace(Event=Held))
        poster.await_idle()  # it is back, and the thread is still in the middle of waking it
    pending: Any = SimpleNamespace(path="x.pt", called_at=None, fail=lambda error: None)
    letter: Any = None
    staged: Any = Taken(lambda: poster.is_idle)
    poster.put(Outgoing(pending, letter, staged, letter))
    Held.made[-1].go_on.set()
    staged.begun.wait()
    assert staged.looked_idle is False
    staged.may_arrive.set()
    poster.await_idle()
    assert poster.is_idle
    poster.finish()


def test_a_snapshot_that_was_only_said_to_be_put_keeps_nobody_waiting() -> None:
    """Ctrl-C between the two."""
    poster = Poster(SimpleNamespace(), Telling())  # type: ignore[arg-type]
    outbox = poster._outbox

    class Interrupted:
        get = outbox.get

        def put(self, item: object) -> None:
            raise KeyboardInterrupt

    poster._outbox = Interrupted()  # type: ignore[assignment]
    nothing: Any = None
    with pytest.raises(KeyboardInterrupt):
        poster.put(nothing)
    poster._outbox = outbox
    looked_idle = [poster.is_idle]
    poster.await_idle()
    looked_idle.append(poster.is_idle)
    assert looked_idle == [False, True]
    poster.finish()


def test_a_snapshot_that_is_posted_is_kept_by_nobody() -> None:
    """What it was copied with would be, too, such as memory of a GPU."""
    courier: Any = SimpleNamespace(cancel=lambda letter: None)
    poster = Poster(courier, SimpleNamespace(of=lambda error, saved_at: None))  # type: ignore[arg-type]
    staged = Taken(lambda: True)
    staged.may_arrive.set()
    pending: Any = SimpleNamespace(path="x.pt", called_at=None, fail=lambda error: None)
    letter: Any = None
    poster.put(Outgoing(pending, letter, staged, letter))  # type: ignore[arg-type]
    is_kept = weakref.ref(staged)
    del staged
    poster.await_idle()
    deadline_s = time.monotonic() + 60
    while is_kept() is not None and time.monotonic() < deadline_s:
        gc.collect()
    assert is_kept() is None
    poster.finish()
