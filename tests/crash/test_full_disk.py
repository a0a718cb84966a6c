"""A disk that fills up, for real: foreseen, survived, and told of."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import instride
from instride.errors import SaveFailedError, SaveSkippedError
from tests.crash.checks import assert_sound, assert_swept, await_free, path_of, steps_in
from tests.crash.mounts import mounted
from tests.crash.trainings import STREAMED_VALUES, Weights
from tests.crash.zygote import Zygote

pytestmark = pytest.mark.torch

DISK_BYTES = 34 << 20
"""Three checkpoints of 9 MB fit, and a little more; not four."""
ignored = pytest.mark.filterwarnings("ignore:instride:RuntimeWarning")


@pytest.fixture(params=["tmpfs", "ext4"])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    with mounted(request.param, tmp_path / "disk", DISK_BYTES) as where:
        yield where / "store"


def save(saver: instride.Saver, weights: Weights, step: int) -> instride.Pending:
    weights.become(step)
    return saver.save(step)


def fill_up(path: Path) -> None:
    with path.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(1 << 12))


def test_the_end_of_the_space_is_foreseen(disk: Path) -> None:
    weights = Weights()
    with (
        pytest.warns(RuntimeWarning, match="room for 2 more checkpoints of this size"),
        instride.Saver(disk, weights=weights) as saver,
    ):
        save(saver, weights, 1).wait(60)


@ignored
def test_what_retention_would_delete_anyway_makes_room(disk: Path) -> None:
    weights = Weights()
    with instride.Saver(disk, keep=instride.Keep(last=3), weights=weights) as saver:
        for step in (1, 2, 3, 4, 5):
            save(saver, weights, step).wait(60)

    assert steps_in(disk) == [3, 4, 5]
    assert assert_sound(disk) == 5
    assert_swept(disk)


@ignored
def test_a_save_waits_for_space_while_training_goes_on(disk: Path) -> None:
    weights = Weights()
    with instride.Saver(disk, weights=weights) as saver:
        for step in (1, 2, 3):
            save(saver, weights, step).wait(60)
        waiting = save(saver, weights, 4)
        skipped = save(saver, weights, 5).error
        assert isinstance(skipped, SaveSkippedError)
        assert "the disk is full" in str(skipped)
        assert f"df -h {disk}" in skipped.hint
        assert not waiting.done
        assert not path_of(disk, 4).exists()

        path_of(disk, 1).unlink()
        waiting.wait(60)
        assert_sound(disk)

    assert steps_in(disk) == [2, 3, 4]
    assert assert_sound(disk) == 4


@ignored
def test_the_end_does_not_wait_for_space(disk: Path) -> None:
    weights = Weights()
    saver = instride.Saver(disk, weights=weights)
    for step in (1, 2, 3, 4):
        last = save(saver, weights, step)
    for step in (5, 6):
        assert save(saver, weights, step).is_skipped

    with pytest.raises(SaveFailedError, match="No space left") as raised:
        saver.close()

    assert f"skipped behind it: 2, the last of them `{path_of(disk, 6)}`" in raised.value.__notes__
    assert isinstance(last.error, SaveFailedError)
    assert steps_in(disk) == [1, 2, 3]
    assert assert_sound(disk) == 3
    assert_swept(disk)


@ignored
def test_a_full_disk_ends_a_snapshot_that_streams(disk: Path) -> None:
    weights = Weights(STREAMED_VALUES)
    with instride.Saver(disk, memory_bytes=1, weights=weights) as saver:
        save(saver, weights, 1).wait(60)
        with pytest.raises(SaveFailedError, match="No space left"):
            save(saver, weights, 2).wait(60)
        path_of(disk, 1).unlink()
        save(saver, weights, 3).wait(60)

    assert steps_in(disk) == [3]
    assert assert_sound(disk) == 3


@ignored
def test_a_full_disk_lets_a_training_start_and_restore(disk: Path) -> None:
    weights = Weights()
    with instride.Saver(disk, weights=weights) as saver:
        save(saver, weights, 1).wait(60)
    ballast = disk.parent / "ballast"
    with pytest.raises(OSError, match="No space left"):
        fill_up(ballast)

    saver = instride.Saver(disk, weights=weights)
    assert saver.restore() == 2
    waiting = save(saver, weights, 2)
    ballast.unlink()
    waiting.wait(60)
    saver.close()
    assert assert_sound(disk) == 2


def test_a_trainer_that_is_killed_while_its_save_waits_leaves_a_sound_store(
    zygote: Zygote, tmp_path: Path
) -> None:
    with mounted("tmpfs", tmp_path / "disk", DISK_BYTES) as disk:
        store = disk / "store"
        training = zygote.start("train", store=store, steps=[1, 2, 3, 4], faults="kill@sent#4")
        said = training.hear_all()
        assert training.wait() == -9
        assert said[-1] == ("committed", 3)
        await_free(store)

        assert assert_sound(store) == 3
        assert_swept(store)
