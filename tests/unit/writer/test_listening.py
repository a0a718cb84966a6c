"""The writer waits for no message of which it has a part only: who sent it may be gone."""

from __future__ import annotations

import os
import select
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from instride.store.retention import Keep
from instride.writer import process
from instride.writer.protocol import Close, Finish, Hello, Hurry, ToWriter, Wire, frame_of
from tests.unit.writer.works import finish

MOST_S = 20.0


class Noted:
    """Stands in for the work; its calls, in order."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []
        self.has_been_called = threading.Event()

    def __getattr__(self, name: str) -> Any:
        def call(*arguments: Any) -> None:
            self.calls.append((name, arguments[0] if arguments else None))
            self.has_been_called.set()

        return call


class Stage:
    """A trainer that can be killed; its end of the line stays with us, as with a child of it."""

    def __init__(self) -> None:
        self.ours, theirs = socket.socketpair()
        self._trainer = subprocess.Popen(["sleep", "1000"])
        self._pidfd = os.pidfd_open(self._trainer.pid)
        self.work = Noted()
        self.wire = Wire(theirs, ToWriter)
        self.thread = threading.Thread(
            target=process.listen, args=(self.wire, self._pidfd, self.work), daemon=True
        )

    def kill(self) -> None:
        self._trainer.kill()
        self._trainer.wait()

    def end(self) -> None:
        self.kill()
        self.ours.close()
        self.thread.join(MOST_S)
        self.wire.close()
        os.close(self._pidfd)


@pytest.fixture
def stage() -> Iterator[Stage]:
    stage = Stage()
    yield stage
    stage.end()


def test_half_a_message_of_a_trainer_that_is_gone_is_not_waited_for(stage: Stage) -> None:
    whole, half = frame_of(finish(1)), frame_of(finish(2))
    stage.thread.start()
    stage.ours.sendall(whole)
    assert stage.work.has_been_called.wait(MOST_S)
    stage.ours.sendall(half[: len(half) // 2])
    while select.select([stage.wire.socket], [], [], 0)[0]:
        pass  # until it has taken that half
    stage.kill()
    stage.thread.join(MOST_S)
    assert not stage.thread.is_alive()
    (name, message), last = stage.work.calls
    assert (name, message.id) == ("finish", 1)
    assert last == ("give_up", "the trainer is gone")


def test_whoever_speaks_to_a_trainer_that_is_gone_is_not_held_up(stage: Stage) -> None:
    """A child of it that holds its end never reads."""
    stage.wire.socket.setblocking(False)
    with suppress(BlockingIOError):
        while True:
            stage.wire.socket.send(bytes(1 << 16))
    stage.wire.socket.setblocking(True)
    speaker = threading.Thread(target=say_much, args=(stage.wire.socket,), daemon=True)
    speaker.start()
    stage.thread.start()
    stage.kill()
    speaker.join(MOST_S)
    assert not speaker.is_alive()


def say_much(end: socket.socket) -> None:
    with suppress(OSError):
        end.sendall(bytes(10))


def test_what_a_trainer_had_sent_before_it_was_killed_is_taken(stage: Stage) -> None:
    big = Finish(1, {"data.pkl": bytes(100_000)}, 1, None, [], {}, 0.0, 0.0, 0.0, 0.0, 0.0)
    stage.ours.sendall(frame_of(big) + frame_of(Hurry(1)))
    stage.kill()
    stage.thread.start()
    stage.thread.join(MOST_S)
    assert [name for name, _ in stage.work.calls] == ["finish", "hurry", "give_up"]
    assert stage.work.calls[1] == ("hurry", 1)


def test_a_message_that_comes_in_parts_is_taken_when_it_is_whole(stage: Stage) -> None:
    frame = frame_of(finish(7))
    stage.thread.start()
    for number in range(len(frame)):
        assert not stage.work.calls
        stage.ours.sendall(frame[number : number + 1])
    assert stage.work.has_been_called.wait(MOST_S)
    assert stage.work.calls[0][1].id == 7


def test_what_came_with_the_greeting_is_heard_without_another_word(stage: Stage) -> None:
    hello = Hello(0, 1, 1, None, Keep())
    stage.ours.sendall(frame_of(hello) + frame_of(finish(1)))
    assert stage.wire.receive() == hello
    stage.thread.start()
    assert stage.work.has_been_called.wait(MOST_S)
    assert stage.work.calls[0][0] == "finish"


def test_nothing_is_heard_behind_a_goodbye(stage: Stage) -> None:
    stage.ours.sendall(frame_of(Close()) + frame_of(Hurry(1)))
    stage.thread.start()
    stage.thread.join(MOST_S)
    assert [name for name, _ in stage.work.calls] == ["leave", "give_up"]


def test_a_line_that_is_closed_in_the_middle_of_a_message_is_the_end(stage: Stage) -> None:
    stage.ours.sendall(frame_of(finish(1))[:9])
    stage.thread.start()
    stage.ours.shutdown(socket.SHUT_RDWR)
    stage.thread.join(MOST_S)
    assert stage.work.calls == [("give_up", "the trainer closed the connection")]


def test_a_greeting_that_does_not_come_is_not_waited_for_for_ever(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "GREETING_S", 0.05)
    stage.ours.sendall(frame_of(Hello(0, 1, 1, None, Keep()))[:5])
    assert process.greeting(stage.wire) is None
    assert stage.wire.socket.gettimeout() is None
    stage.thread.start()
