"""Saves that are interrupted: by signal handlers that save, by Ctrl-C, by a close elsewhere."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import instride
from instride.errors import SaveFailedError, SaveSkippedError
from instride.snapshot.arena import LEAST_SLOTS
from instride.store.directory import checkpoints_in
from instride.store.manifest import PIECE_BYTES
from instride.writer.page import COPIED
from tests.crash.trainings import engine_of

pytestmark = [
    pytest.mark.torch,
    pytest.mark.filterwarnings("ignore:instride.*weights_only:RuntimeWarning"),
]


class Calling:
    """What runs in the middle of a save: when it is pickled."""

    def __init__(self, call: Callable[[], object]) -> None:
        self._call = call

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        self._call()
        return (frozenset, ())


def interrupt() -> None:
    raise KeyboardInterrupt


def steps_in(store: Path) -> list[int]:
    return [checkpoint.step for checkpoint in checkpoints_in(store)]


@pytest.fixture
def handler() -> Iterator[Callable[[int, Callable[..., Any]], None]]:
    """Installs handlers of signals, for one test."""
    before: dict[int, Any] = {}

    def install(number: int, handler: Callable[..., Any]) -> None:
        before[number] = signal.signal(number, handler)

    yield install
    for number, older in before.items():
        signal.signal(number, older)


def test_a_signal_handler_that_saves_inside_of_a_save_is_refused_and_told(
    tmp_path: Path, handler: Callable[[int, Callable[..., Any]], None]
) -> None:
    with instride.Saver(tmp_path, model=torch.nn.Linear(2, 2)) as saver:
        inner: list[instride.Pending] = []
        handler(signal.SIGUSR2, lambda *_: inner.append(saver.save(2)))
        raising = Calling(lambda: signal.raise_signal(signal.SIGUSR2))
        with pytest.warns(RuntimeWarning, match="signal handler"):
            outer = saver.save(1, extra={"calls": raising})
        outer.wait(60)

        assert isinstance(inner[0].error, SaveSkippedError)
        assert inner[0].is_skipped
    assert steps_in(tmp_path) == [1]


def test_a_handler_that_calls_the_function_inside_of_itself_is_refused_too(
    tmp_path: Path, handler: Callable[[int, Callable[..., Any]], None]
) -> None:
    inner: list[instride.Pending] = []
    handler(signal.SIGUSR2, lambda *_: inner.append(instride.save({}, tmp_path / "inner.pt")))
    raising = Calling(lambda: signal.raise_signal(signal.SIGUSR2))
    with pytest.warns(RuntimeWarning, match="signal handler"):
        instride.save({"calls": raising}, tmp_path / "outer.pt").wait(60)

    assert isinstance(inner[0].error, SaveSkippedError)
    assert not (tmp_path / "inner.pt").exists()


@pytest.mark.filterwarnings("ignore:instride.*closed:RuntimeWarning")
def test_a_handler_that_closes_the_saver_inside_of_a_save_ends_that_save(
    tmp_path: Path, handler: Callable[[int, Callable[..., Any]], None]
) -> None:
    saver = instride.Saver(tmp_path, model=torch.nn.Linear(2, 2))
    saver.save(1).wait(60)
    handler(signal.SIGUSR2, lambda *_: saver.close())
    raising = Calling(lambda: signal.raise_signal(signal.SIGUSR2))

    pending = saver.save(2, extra={"calls": raising})

    with pytest.raises(SaveFailedError, match="closed"):
        pending.wait(60)
    assert steps_in(tmp_path) == [1]


def test_what_interrupted_a_save_is_what_the_person_sees(tmp_path: Path) -> None:
    saver = instride.Saver(tmp_path, stall_s=1.0, model=torch.nn.Linear(2, 2))
    saver.save(1).wait(60)
    with pytest.raises(KeyboardInterrupt), saver:
        saver.save(2, extra={"calls": Calling(interrupt)})

    assert steps_in(tmp_path) == [1]


def test_training_may_go_on_after_a_save_that_was_interrupted(tmp_path: Path) -> None:
    with instride.Saver(tmp_path, model=torch.nn.Linear(2, 2)) as saver:
        saver.save(1).wait(60)
        with pytest.raises(KeyboardInterrupt):
            saver.save(2, extra={"calls": Calling(interrupt)})
        saver.save(3).wait(60)

    assert steps_in(tmp_path) == [1, 3]


@pytest.mark.parametrize("is_put", [False, True], ids=["before it is posted", "behind that"])
def test_ctrl_c_in_the_moment_in_which_a_snapshot_is_posted(is_put: bool, tmp_path: Path) -> None:
    """Whoever is interrupted there cannot know which of the two it was."""
    model = torch.nn.Linear(2, 2)
    with instride.Saver(tmp_path, model=model) as saver:
        saver.save(1).wait(60)
        poster = engine_of(saver)._poster
        outbox = poster._outbox

        class Interrupted:
            get = outbox.get

            def put(self, item: object) -> None:
                poster._outbox = outbox
                if is_put:
                    outbox.put(item)  # type: ignore[arg-type]
                interrupt()

        poster._outbox = Interrupted()  # type: ignore[assignment]
        with pytest.raises(KeyboardInterrupt):
            saver.save(2)
        model.weight.data.fill_(3.0)
        saver.save(3).wait(60)
    assert steps_in(tmp_path) in ([1, 3], [1, 2, 3] if is_put else [1, 3])
    saved = torch.load(tmp_path / "step_00000003.pt", weights_only=True)
    assert bool((saved["model"]["weight"] == 3.0).all())


def test_ctrl_c_while_a_snapshot_streams_lets_go_of_it(
    tmp_path: Path, handler: Callable[[int, Callable[..., Any]], None]
) -> None:
    handler(signal.SIGINT, signal.default_int_handler)
    model = torch.nn.Linear(1, (LEAST_SLOTS + 2) * PIECE_BYTES // 8)
    with instride.Saver(tmp_path, memory_bytes=1, model=model) as saver:
        engine: Any = saver._engine
        main = threading.main_thread().ident
        assert main is not None
        os.kill(engine.courier.writer_pid, signal.SIGSTOP)  # it takes no piece

        def press() -> None:
            while engine.page[COPIED] < LEAST_SLOTS:
                os.sched_yield()
            signal.pthread_kill(main, signal.SIGINT)

        pressing = threading.Thread(target=press)
        pressing.start()
        with pytest.raises(KeyboardInterrupt):
            saver.save(1)
        pressing.join()
        os.kill(engine.courier.writer_pid, signal.SIGCONT)
        saver.save(2).wait(60)

    assert steps_in(tmp_path) == [2]


def test_a_close_in_another_thread_waits_for_the_snapshot_that_is_being_taken(
    tmp_path: Path,
) -> None:
    saver = instride.Saver(tmp_path, model=torch.nn.Linear(2, 2))
    closing = threading.Thread(target=saver.close)

    def close_elsewhere() -> None:
        closing.start()
        while closing.is_alive() and not is_in_close(closing):
            os.sched_yield()

    pending = saver.save(1, extra={"calls": Calling(close_elsewhere)})
    pending.wait(60)
    closing.join()

    assert steps_in(tmp_path) == [1]


def is_in_close(thread: threading.Thread) -> bool:
    """Whether it waits for its turn to close."""
    assert thread.ident is not None
    frame = sys._current_frames().get(thread.ident)
    return frame is not None and frame.f_code.co_qualname == "Turns.close"
