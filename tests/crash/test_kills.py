"""SIGKILL at every named phase, of the trainer, of the writer, and of both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from instride.faults import SAVE_PHASES, TRAINER_PHASES, WRITER_PHASES
from tests.crash.checks import assert_sound, assert_swept, await_free, lose_a_writer, steps_in
from tests.crash.trainings import STREAMED_VALUES
from tests.crash.zygote import Zygote

pytestmark = pytest.mark.torch

KEPT = 2
BEFORE_THE_REST = ("begun", "opened", "write", "written")
AFTER_THE_NAME = ("renamed", "linked", "verified", "deleted")
STREAMED: dict[str, Any] = {"num_values": STREAMED_VALUES, "memory_bytes": 1}
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
    lose_a_writer(zygote, store, phase, tmp_path / "once", keep=KEPT)
    resume(zygote, store, 4)


@pytest.mark.parametrize("phase", SAVE_PHASES)
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


@pytest.mark.parametrize("number", [1, 3, 5])
def test_a_writer_killed_while_a_snapshot_streams_through_it_loses_that_one(
    number: int, zygote: Zygote, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    training = zygote.start(
        "train", store=store, steps=[1, 2], faults=f"kill@write#{number}", once=tmp_path / "once",
        **STREAMED,
    )  # fmt: skip
    said = training.hear_all()

    assert training.wait() == 0
    assert (tmp_path / "once").exists()
    assert said[2][:2] == ("failed", "SaveFailedError")
    assert ("committed", 2) in said
    assert assert_sound(store) == 2
    assert_swept(store)


@pytest.mark.parametrize("where", ["streamed#1", "streamed#4", "streamed#6", "copied", "submitted"])
def test_a_trainer_killed_while_its_snapshot_streams_leaves_what_was_committed_before(
    where: str, zygote: Zygote, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    first = zygote.start("train", store=store, steps=[1], **STREAMED)
    first.hear_all()
    assert first.wait() == 0

    second = zygote.start("train", store=store, steps=[2], faults=f"kill@{where}", **STREAMED)
    second.hear_all()
    assert second.wait() == -9
    await_free(store)
    assert assert_sound(store) == 1

    third = zygote.start("train", store=store, steps=[3], **STREAMED)
    said = third.hear_all()
    assert third.wait() == 0
    assert ("restored", 1) in said
    assert steps_in(store) == [1, 3]
    assert assert_sound(store) == 3
    assert_swept(store)


def test_a_snapshot_that_streamed_in_full_survives_the_trainer(
    zygote: Zygote, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    training = zygote.start("train", store=store, steps=[1], faults="kill@sent", **STREAMED)
    training.hear_all()
    assert training.wait() == -9
    await_free(store)

    assert assert_sound(store) == 1


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


@pytest.mark.parametrize("phase", ["synced", "manifest", "renamed", "linked", "deleted"])
def test_a_trainer_that_writes_itself_killed_at(phase: str, zygote: Zygote, store: Path) -> None:
    training = zygote.start(
        "train_synchronously", store=store, steps=[3], keep=KEPT, faults=f"kill@{phase}"
    )
    training.hear_all()
    assert training.wait() == -9

    expected = 3 if phase in AFTER_THE_NAME else 2
    assert assert_sound(store) == expected
    second = zygote.start("train_synchronously", store=store, steps=[9], keep=KEPT)
    said = second.hear_all()
    assert second.wait() == 0
    assert said == [("restored", expected), ("committed", 9)]
    assert len(steps_in(store)) == KEPT
    assert_swept(store)
