"""Writers that are lost, snapshots that are given up: the next save is none the worse for it."""

from __future__ import annotations

import gc
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
import torch

import instride
import instride.faults
from instride.errors import SaveFailedError, StorageStuckError
from instride.faults import ONCE, VARIABLE
from instride.saver.line import Line
from instride.writer.protocol import Begin, Hurry, ToWriter
from tests.crash.checks import assert_sound, steps_in
from tests.crash.trainings import Weights, writer_of
from tests.saver.scripts import run

pytestmark = pytest.mark.torch
ignored = pytest.mark.filterwarnings("ignore:instride:RuntimeWarning")


@pytest.fixture
def fault_here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[str], None]]:
    """Asks for a fault in this process, once."""

    def ask(fault: str) -> None:
        monkeypatch.setenv(VARIABLE, fault)
        monkeypatch.setenv(ONCE, str(tmp_path / "once"))
        instride.faults.arm()

    yield ask
    monkeypatch.delenv(VARIABLE)
    instride.faults.arm()
    assert (tmp_path / "once").exists(), "the fault that the test is about never happened"


@ignored
@pytest.mark.parametrize("phase", ["frozen", "submitted", "pickled"])
def test_a_snapshot_that_is_given_up_does_not_touch_the_next_one(
    phase: str, tmp_path: Path, fault_here: Callable[[str], None]
) -> None:
    """The next has other sizes: headers of the one before would lie in its data."""
    fault_here(f"EIO@{phase}")
    weights = Weights()
    with instride.Saver(tmp_path / "store", weights=weights) as saver:
        with pytest.raises(SaveFailedError, match="asked for by"):
            saver.save(1).wait(60)
        weights.values = torch.zeros(len(weights.values) - 5000, dtype=torch.int32)
        weights.become(2)
        saver.save(2).wait(60)

    assert steps_in(tmp_path / "store") == [2]
    assert assert_sound(tmp_path / "store") == 2


@ignored
def test_the_memory_of_a_snapshot_that_is_given_up_is_not_used_before_the_writer_lets_go_of_it(
    store: Path, fault_here: Callable[[str], None]
) -> None:
    fault_here("EIO@pickled")
    weights = Weights()
    with instride.Saver(store, stall_s=1.0, weights=weights) as saver:
        writer = writer_of(saver)
        os.kill(writer, signal.SIGSTOP)
        with pytest.raises(SaveFailedError, match="asked for by"):
            saver.save(3).wait(60)
        assert isinstance(saver.save(4).error, StorageStuckError)

        os.kill(writer, signal.SIGCONT)
        weights.become(5)
        while (pending := saver.save(5)).error is not None:
            pass  # on a busy machine it takes its time to go on
        pending.wait(60)

    assert steps_in(store) == [1, 2, 5]
    assert assert_sound(store) == 5


@ignored
def test_a_writer_that_cannot_start_is_tried_again_at_the_next_save(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = Weights()
    with instride.Saver(store, weights=weights) as saver:
        monkeypatch.setenv(VARIABLE, "kill@started")
        os.kill(writer_of(saver), signal.SIGKILL)
        weights.become(3)
        with pytest.raises(SaveFailedError, match=r"ends as soon as it is started|was killed"):
            saver.save(3).wait(60)
        with pytest.raises(SaveFailedError):
            saver.save(4).wait(60)

        monkeypatch.delenv(VARIABLE)
        weights.become(5)
        saver.save(5).wait(60)

    assert steps_in(store) == [1, 2, 5]
    assert assert_sound(store) == 5


@ignored
def test_a_writer_that_cannot_start_says_why(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with instride.Saver(store, weights=Weights()) as saver:
        monkeypatch.setenv(VARIABLE, "EIO@started")
        os.kill(writer_of(saver), signal.SIGKILL)
        with pytest.raises(SaveFailedError, match=r"OSError.*asked for by"):
            saver.save(3).wait(60)

        monkeypatch.delenv(VARIABLE)
        saver.save(4).wait(60)


@pytest.mark.parametrize("name", ["isal", "selectors", "signal"])
def test_a_file_of_the_user_that_is_called_as_ours_does_not_end_the_writer(
    name: str, tmp_path: Path
) -> None:
    """The trainer has the right one by then: it puts the folder of its script first itself."""
    (tmp_path / f"{name}.py").write_text("raise SystemExit('this is not what you look for')")
    script = "sys.path.insert(0, os.getcwd())\nsaver('store').save(1).wait(60)"
    (tmp_path / "scripts").mkdir()

    run(tmp_path, script, name="scripts/train.py")

    assert steps_in(tmp_path / "store") == [1]


@ignored
def test_the_end_of_a_writer_is_seen_where_a_child_holds_its_end_of_the_line(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one has it that is forked by another thread while the writer is being started."""
    make_pair = socket.socketpair
    held: list[socket.socket] = []

    def pair_that_leaks(*args: int) -> tuple[socket.socket, socket.socket]:
        ours, theirs = make_pair(*args)
        held.append(theirs.dup())
        return ours, theirs

    monkeypatch.setattr(socket, "socketpair", pair_that_leaks)
    weights = Weights()
    with instride.Saver(store, weights=weights) as saver:
        os.kill(writer_of(saver), signal.SIGKILL)
        weights.become(3)
        saver.save(3).wait(60)

    assert len(held) == 2
    for each in held:
        each.close()
    assert assert_sound(store) == 3


@ignored
def test_a_writer_that_cannot_be_replaced_for_lack_of_threads_fails_the_save_and_no_other(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    gc.collect()  # savers that tests before have left are closed in threads
    weights = Weights()
    others = set(psutil.Process().children())
    with instride.Saver(store, weights=weights) as saver:
        with monkeypatch.context() as patching:
            patching.setattr(threading.Thread, "start", refuse)
            os.kill(writer_of(saver), signal.SIGKILL)
            with pytest.raises(SaveFailedError, match="new thread"):
                saver.save(3).wait(60)
            assert set(psutil.Process().children()) == others

        weights.become(4)
        saver.save(4).wait(60)

    assert assert_sound(store) == 4


@ignored
def test_a_writer_that_takes_over_is_told_who_waits_for_what(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or whoever waits would do so for as long as the budget takes."""
    told: list[tuple[Line, ToWriter]] = []
    send = Line.send

    def note(line: Line, message: ToWriter) -> None:
        told.append((line, message))
        send(line, message)

    monkeypatch.setattr(Line, "send", note)
    weights = Weights()
    with instride.Saver(store, weights=weights) as saver:
        first = writer_of(saver)
        os.kill(first, signal.SIGSTOP)
        weights.become(3)
        pending = saver.save(3)
        waiting = threading.Thread(target=pending.wait, args=(60,))
        waiting.start()
        deadline_s = time.monotonic() + 60
        while not any(isinstance(message, Hurry) for _, message in told):
            assert time.monotonic() < deadline_s
            time.sleep(0.001)
        os.kill(first, signal.SIGKILL)
        waiting.join()
        second = told[-1][0]

    (begin,) = (each for line, each in told if line is second and isinstance(each, Begin))
    assert Hurry(begin.id) in [each for line, each in told if line is second]


@ignored
def test_a_writer_is_killed_between_saves_and_nobody_notices(store: Path) -> None:
    weights = Weights()
    with instride.Saver(store, weights=weights) as saver:
        for step in range(3, 8):
            os.kill(writer_of(saver), signal.SIGKILL)
            weights.become(step)
            saver.save(step).wait(60)

    assert steps_in(store) == [1, 2, 3, 4, 5, 6, 7]
    assert assert_sound(store) == 7


def test_a_save_after_the_end_fails_and_touches_nothing(store: Path) -> None:
    weights = Weights()
    saver = instride.Saver(store, weights=weights)
    saver.close()

    with pytest.warns(RuntimeWarning, match="closed"):
        pending = saver.save(3)
    with pytest.raises(SaveFailedError, match="closed"):
        pending.wait(60)

    assert steps_in(store) == [1, 2]


@pytest.mark.filterwarnings("error:instride:RuntimeWarning")
def test_warnings_that_are_errors_do_not_end_the_threads_that_warn(
    store: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(VARIABLE, "EIO@opened")
    monkeypatch.setenv(ONCE, str(tmp_path / "once"))
    weights = Weights()
    with instride.Saver(store, weights=weights) as saver:
        with pytest.raises(SaveFailedError):
            saver.save(3).wait(60)
        weights.become(4)
        saver.save(4).wait(60)

    assert assert_sound(store) == 4
