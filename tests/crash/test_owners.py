"""Two trainers, one store: a living owner wins, a dead one is waited for and replaced."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from instride.store.lock import Owner, StoreLock, started_at
from tests.crash.checks import assert_sound, assert_swept, await_end_of, await_free
from tests.crash.zygote import Zygote

pytestmark = pytest.mark.torch


def test_a_second_trainer_is_refused_and_told_which_pid_owns_the_store(
    zygote: Zygote, store: Path
) -> None:
    first = zygote.start("open_store", store=store)
    assert first.hear()[0] == "owned"

    second = zygote.start("open_store", store=store)
    kind, text = second.hear()

    assert kind == "StoreInUseError"
    assert f"pid {first.pid} " in text
    assert second.wait() == 0
    first.tell()
    assert first.wait() == 0


def test_the_store_of_a_trainer_that_has_closed_is_free(zygote: Zygote, store: Path) -> None:
    first = zygote.start("open_store", store=store)
    first.hear()
    first.tell()
    assert first.wait() == 0

    second = zygote.start("open_store", store=store)
    assert second.hear()[0] == "owned"
    second.tell()
    assert second.wait() == 0


def test_the_store_of_a_trainer_that_was_killed_is_taken_over(zygote: Zygote, store: Path) -> None:
    first = zygote.start("open_store", store=store)
    first.hear()
    first.kill()

    second = zygote.start("train", store=store, steps=[3])
    said = second.hear_all()

    assert second.wait() == 0
    assert ("restored", 2) in said
    assert assert_sound(store) == 3


def test_a_trainer_that_is_stopped_still_owns_its_store(zygote: Zygote, store: Path) -> None:
    first = zygote.start("open_store", store=store)
    first.hear()
    os.kill(first.pid, signal.SIGSTOP)

    second = zygote.start("open_store", store=store)
    assert second.hear()[0] == "StoreInUseError"
    assert second.wait() == 0

    os.kill(first.pid, signal.SIGCONT)
    first.tell()
    assert first.wait() == 0


def orphaned(zygote: Zygote, store: Path, *more_faults: str) -> int:
    """A writer, stopped, whose trainer was killed when everything of step 3 had been sent."""
    faults = ",".join(["kill@sent", *more_faults])
    training = zygote.start("train_at_once", store=store, step=3, faults=faults)
    _, writer = training.hear()
    # The kernel lets it go on when the trainer ends: such a group of processes is nobody's.
    os.kill(writer, signal.SIGSTOP)
    training.tell()
    training.hear_all()
    assert training.wait() == -9
    return int(writer)


def test_a_restart_at_once_waits_for_the_commit_of_the_orphan_and_restores_it(
    zygote: Zygote, store: Path
) -> None:
    writer = orphaned(zygote, store)

    second = zygote.start("train", store=store, steps=[4])
    os.kill(writer, signal.SIGCONT)
    said = second.hear_all()

    assert second.wait() == 0
    assert ("restored", 3) in said
    assert assert_sound(store) == 4
    assert_swept(store)


def test_a_scheduler_that_asks_every_process_to_end_does_not_stop_a_commit(
    zygote: Zygote, store: Path
) -> None:
    writer = orphaned(zygote, store)

    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGCONT):
        os.kill(writer, number)
    await_end_of(writer)

    assert assert_sound(store) == 3


def test_an_orphan_that_is_killed_leaves_the_store_to_whoever_waits_for_it(
    zygote: Zygote, store: Path
) -> None:
    writer = orphaned(zygote, store, "hang@synced")

    second = zygote.start("train", store=store, steps=[4])
    os.kill(writer, signal.SIGKILL)
    said = second.hear_all()

    assert second.wait() == 0
    assert ("restored", 2) in said
    assert assert_sound(store) == 4
    assert_swept(store)


def test_trainers_killed_one_after_the_other_lose_nothing_that_was_staged(
    zygote: Zygote, store: Path
) -> None:
    for step in (3, 4, 5):
        training = zygote.start("train", store=store, steps=[step], faults="kill@sent")
        training.hear_all()
        assert training.wait() == -9
    await_free(store)

    assert assert_sound(store) == 5


def test_a_pid_that_somebody_else_has_by_now_owns_nothing() -> None:
    started = started_at(os.getpid())
    assert started is not None
    host = os.uname().nodename

    assert Owner(host, os.getpid(), started, 1).is_alive
    assert not Owner(host, os.getpid(), started - 1, 1).is_alive
    assert Owner(f"not-{host}", os.getpid(), started - 1, 1).is_alive  # nobody can tell from here


def test_a_lock_on_a_directory_that_was_deleted_is_not_in_place(tmp_path: Path) -> None:
    lock = StoreLock(tmp_path)
    assert lock.try_take(Owner("host", 1, 1, 1)) is None
    assert lock.is_in_place()

    (tmp_path / ".instride" / "lock").unlink()
    assert not lock.is_in_place()
    StoreLock(tmp_path).release()
    assert not lock.is_in_place()
    lock.release()


def test_a_child_of_a_child_keeps_the_descriptors_that_are_its_own(
    zygote: Zygote, tmp_path: Path
) -> None:
    training = zygote.start("fork_twice", store=tmp_path / "store")

    assert training.hear() == 0
    assert training.wait() == 0


@pytest.mark.parametrize("function", ["train_with_loader", "train_with_heir"])
def test_a_writer_notices_the_death_of_a_trainer_whose_children_live_on(
    function: str, zygote: Zygote, store: Path
) -> None:
    training = zygote.start(function, store=store, step=3)
    _, writer, children = training.hear()
    for child in children:
        os.kill(child, signal.SIGSTOP)  # they cannot notice anything

    assert training.kill() == -9
    await_end_of(writer)

    assert assert_sound(store) == 3
    second = zygote.start("open_store", store=store)
    assert second.hear()[0] == "owned"
    second.tell()
    assert second.wait() == 0
    for child in children:
        assert Path(f"/proc/{child}").exists()  # they were alive all the time
        os.kill(child, signal.SIGKILL)
