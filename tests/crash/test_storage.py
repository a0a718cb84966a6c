"""Storage that fails, and storage that does not answer: training goes on."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import instride
from instride.errors import SaveFailedError, StorageStuckError
from instride.faults import ONCE, VARIABLE
from instride.store.directory import TEMPORARY_NAME
from tests.crash.checks import assert_sound, await_free, path_of, steps_in
from tests.crash.trainings import STREAMED_VALUES, Weights, writer_of

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore:instride:RuntimeWarning")]

BEFORE_THE_NAME = (
    "opened", "write#1", "write#2", "write#3", "written", "tail", "synced", "manifest",
)  # fmt: skip
STALL_S = 0.5
FOR_EVER_S = 3600.0


@pytest.fixture
def fault(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[str], None]]:
    """Asks for a fault, of the first writer to come there."""

    def ask(fault: str) -> None:
        monkeypatch.setenv(VARIABLE, fault)
        monkeypatch.setenv(ONCE, str(tmp_path / "once"))

    yield ask
    assert (tmp_path / "once").exists(), "the fault that the test is about never happened"


def unfinished(store: Path) -> list[str]:
    return [path.name for path in store.iterdir() if TEMPORARY_NAME.fullmatch(path.name)]


@pytest.mark.parametrize("where", BEFORE_THE_NAME)
def test_an_error_fails_the_save_and_the_next_one_works(
    where: str, store: Path, fault: Callable[[str], None]
) -> None:
    fault(f"EIO@{where}")
    weights = Weights()
    with instride.Saver(store, weights=weights) as saver:
        weights.become(3)
        failing = saver.save(3)
        with pytest.raises(SaveFailedError, match="asked for by"):
            failing.wait(60)
        assert not path_of(store, 3).exists()
        assert unfinished(store) == []

        weights.become(4)
        saver.save(4).wait(60)

    assert steps_in(store) == [1, 2, 4]
    assert assert_sound(store) == 4


@pytest.mark.parametrize("where", ["linked", "verified"])
def test_an_error_after_the_commit_takes_nothing_back_and_deletes_nothing(
    where: str, store: Path, fault: Callable[[str], None]
) -> None:
    fault(f"EIO@{where}")
    weights = Weights()
    keep = instride.Keep(last=3) if where == "linked" else instride.Keep(last=1)
    with instride.Saver(store, keep=keep, weights=weights) as saver:
        weights.become(3)
        saver.save(3).wait(60)

    assert steps_in(store) == [1, 2, 3]
    assert assert_sound(store) == 3


def test_an_error_in_a_snapshot_that_streams_ends_the_call(
    tmp_path: Path, fault: Callable[[str], None]
) -> None:
    fault("EIO@write#2")
    weights = Weights(STREAMED_VALUES)
    store = tmp_path / "store"
    with instride.Saver(store, memory_bytes=1, weights=weights) as saver:
        weights.become(1)
        with pytest.raises(SaveFailedError):
            saver.save(1).wait(60)

        weights.become(2)
        saver.save(2).wait(60)

    assert steps_in(store) == [2]
    assert assert_sound(store) == 2


@pytest.mark.parametrize(
    "where", ["begun", "opened", "write#1", "write#3", "tail", "synced", "manifest"]
)
def test_storage_that_hangs_does_not_hang_the_training(
    where: str, store: Path, fault: Callable[[str], None]
) -> None:
    fault(f"hang@{where}")
    weights = Weights()
    saver = instride.Saver(store, stall_s=STALL_S, weights=weights)
    writer = writer_of(saver)
    weights.become(3)
    hanging = saver.save(3)
    weights.become(4)

    end_stuck(saver, writer, hanging)

    await_free(store)
    assert assert_sound(store) == 3


def end_stuck(saver: instride.Saver, writer: int, hanging: instride.Pending) -> None:
    """Training is not held up, now or at its end; what hung is killed, and what was staged is
    written by another, from the same memory."""
    assert isinstance(saver.save(4).error, StorageStuckError)
    with pytest.raises(StorageStuckError):
        saver.close()
    os.kill(writer, signal.SIGKILL)
    hanging.wait(60)


def test_training_waits_once_for_storage_that_hangs(
    store: Path, fault: Callable[[str], None]
) -> None:
    fault("hang@opened")
    weights = Weights()
    saver = instride.Saver(store, stall_s=STALL_S, weights=weights)
    engine: Any = saver._engine
    weights.become(3)
    hanging = saver.save(3)
    assert isinstance(saver.save(4).error, StorageStuckError)

    engine._watch._stall_s = FOR_EVER_S
    assert isinstance(saver.save(5).error, StorageStuckError)

    os.kill(engine.courier.writer_pid, signal.SIGKILL)
    hanging.wait(60)
    weights.become(6)
    saver.save(6).wait(60)
    saver.close()
    assert assert_sound(store) == 6


def test_storage_that_hangs_when_a_checkpoint_is_read_back_is_told_of_at_the_end(
    store: Path, fault: Callable[[str], None]
) -> None:
    fault("hang@verified")
    weights = Weights()
    saver = instride.Saver(store, keep=instride.Keep(last=1), stall_s=STALL_S, weights=weights)
    weights.become(3)
    saver.save(3).wait(60)

    with pytest.raises(StorageStuckError):
        saver.close()

    os.kill(writer_of(saver), signal.SIGKILL)
    await_free(store)
    assert assert_sound(store) == 3
    assert steps_in(store) == [1, 2, 3]


def test_a_store_that_hangs_at_the_start_takes_a_large_snapshot_without_waiting(
    store: Path, fault: Callable[[str], None]
) -> None:
    fault("hang@locked")
    weights = Weights()
    saver = instride.Saver(store, stall_s=STALL_S, weights=weights)
    writer = writer_of(saver)
    weights.become(3)
    pending = saver.save(3, extra={"text": "more than a socket holds " * 100_000})

    with pytest.raises(TimeoutError):
        pending.wait(STALL_S)
    end_stuck(saver, writer, pending)

    await_free(store)
    assert assert_sound(store) == 3


def test_storage_that_hangs_lets_go_of_a_snapshot_that_streams(
    tmp_path: Path, fault: Callable[[str], None]
) -> None:
    fault("hang@write#2")
    weights = Weights(STREAMED_VALUES)
    store = tmp_path / "store"
    saver = instride.Saver(store, memory_bytes=1, stall_s=STALL_S, weights=weights)

    assert isinstance(saver.save(1).error, StorageStuckError)
    assert isinstance(saver.save(2).error, StorageStuckError)  # the arena is not free yet

    os.kill(writer_of(saver), signal.SIGKILL)
    weights.become(3)
    while (pending := saver.save(3)).error is not None:
        weights.become(3)
    pending.wait(60)
    saver.close()
    assert steps_in(store) == [3]
    assert assert_sound(store) == 3
