"""SIGKILL at every named phase, of the trainer, of the writer, and of both."""

from __future__ import annotations

from pathlib import Path

import pytest

from instride.faults import TRAINER_PHASES, WRITER_PHASES
from tests.crash.checks import assert_sound, assert_swept, await_free, steps_in
from tests.crash.trainings import STREAMED_VALUES
from tests.crash.zygote import Zygote

pytestmark = pytest.mark.torch

KEPT = 2
BEFORE_THE_REST = ("begun", "opened", "write", "written")
AFTER_THE_NAME = ("renamed", "linked", "verified", "deleted")
OF_A_SAVE = WRITER_PHASES[WRITER_PHASES.index("begun") :]
SMALLEST = 1
"""A budget that only the smallest arena fits into: what is larger streams."""


def resume(zygote: Zygote, store: Path, expected: int) -> None:
    """The next trainer restores the step, goes on, and leaves nothing behind."""
    training = zygote.start("train", store=store, steps=[9], keep=KEPT)
    said = training.hear_all()
    assert training.wait() == 0
    assert ("restored", expected) in said
    assert ("committed", 9) in said
    assert assert_sound(store) == 9
    assert len(steps_in(store)) == KEPT
    assert_swept(store)


@pytest.mark.parametrize("phase", TRAINER_PHASES)
def test_a_trainer_killed_at(phase: str, zygote: Zygote, store: Path) -> None:
    training = zygote.start("train", store=store, steps=[3], faults=f"kill@{phase}")
    training.hear_all()
    assert training.wait() == -9
    await_free(store)

    expected = 3 if phase == "sent" else 2
    assert assert_sound(store) == expected
    resume(zygote, store, expected)


@pytest.mark.parametrize("phase", WRITER_PHASES)
def test_a_writer_killed_once_at(phase: str, zygote: Zygote, store: Path, tmp_path: Path) -> None:
    training = zygote.start(
        "train",
        store=store,
        steps=[3, 4],
        keep=KEPT,
        faults=f"kill@{phase}",
        once=tmp_path / "once",
    )
    said = training.hear_all()

    assert training.wait() == 0
    assert (tmp_path / "once").exists()
    assert [word for word in said if word[0] == "committed"] == [("committed", 3), ("committed", 4)]
    assert assert_sound(store) == 4
    resume(zygote, store, 4)


@pytest.mark.parametrize("phase", OF_A_SAVE)
def test_both_killed_the_writer_at(phase: str, zygote: Zygote, store: Path) -> None:
    training = zygote.start(
        "train", store=store, steps=[3], keep=KEPT, faults=f"kill@sent,kill@{phase}"
    )
    training.hear_all()
    # Early on, the writer may be killed before everything is sent: then the trainer lives.
    assert training.wait() in ((0, -9) if phase in BEFORE_THE_REST else (-9,))
    await_free(store)

    expected = 3 if phase in AFTER_THE_NAME else 2
    assert assert_sound(store) == expected
    resume(zygote, store, expected)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_writer_killed_at_each_of_its_pieces(
    number: int, zygote: Zygote, store: Path, tmp_path: Path
) -> None:
    training = zygote.start(
        "train", store=store, steps=[3], faults=f"kill@write#{number}", once=tmp_path / "once"
    )
    said = training.hear_all()

    assert training.wait() == 0
    assert (tmp_path / "once").exists()
    assert ("committed", 3) in said
    assert assert_sound(store) == 3


@pytest.mark.parametrize(("faults", "status"), [("kill@write#5", 0), ("kill@copied", -9)])
def test_a_snapshot_that_streams_is_whole_or_not_there(
    faults: str, status: int, zygote: Zygote, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    sizes = {"num_values": STREAMED_VALUES, "memory_bytes": SMALLEST}
    training = zygote.start(
        "train", store=store, steps=[1, 2], faults=faults, once=tmp_path / "once", **sizes
    )
    said = training.hear_all()

    assert training.wait() == status
    assert (tmp_path / "once").exists()
    await_free(store)
    newest = assert_sound(store)
    if status == 0:
        assert said[2][:2] == ("failed", "SaveFailedError")  # gone with the writer
        assert newest == 2
    else:
        assert newest is None


def test_a_writer_that_is_killed_again_and_again_fails_the_save_and_not_the_training(
    zygote: Zygote, store: Path
) -> None:
    training = zygote.start("train", store=store, steps=[3, 4], faults="kill@synced")
    said = training.hear_all()

    assert training.wait() == 0
    assert ("closed", "SaveFailedError") in said
    assert [word[:2] for word in said if word[0] == "failed"] == [("failed", "SaveFailedError")] * 2
    assert assert_sound(store) == 2
    resume(zygote, store, 2)
