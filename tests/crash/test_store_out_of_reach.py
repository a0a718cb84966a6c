"""Trainings that start while a checkpoint of theirs is out of reach, and start again later."""

from __future__ import annotations

from pathlib import Path

import pytest

import instride
from instride.errors import InstrideError, NoStoreError, SaveFailedError
from instride.store.manifest import manifests_folder, manifests_of
from tests.crash.checks import steps_in
from tests.crash.trainings import Weights
from tests.unit.store.unreachable import move_away

pytestmark = pytest.mark.torch


def train(store: Path, *steps: int) -> None:
    weights = Weights(10)
    with instride.Saver(store, weights=weights) as saver:
        for step in steps:
            weights.become(step)
            saver.save(step).wait(60)


def restored(store: Path) -> int:
    weights = Weights(10)
    with instride.Saver(store, weights=weights) as saver:
        next_step = saver.restore()
    assert weights.is_of(next_step - 1)
    return next_step


def test_a_start_while_a_disk_is_away_costs_no_checkpoint(tmp_path: Path) -> None:
    store, cold = tmp_path / "store", tmp_path / "cold"
    train(store, 10)
    checkpoint = store / "step_00000010.pt"
    away = move_away(checkpoint, cold)

    train(store)
    with instride.Saver(store, weights=Weights(10)) as saver, pytest.raises(InstrideError):
        saver.restore()  # from nothing would be no answer

    away.rename(cold)
    assert len(manifests_of(checkpoint)) == 1
    assert restored(store) == 11


def test_what_is_saved_while_a_disk_is_away_is_newer_when_it_is_back(tmp_path: Path) -> None:
    store, cold = tmp_path / "store", tmp_path / "cold"
    train(store, 10)
    away = move_away(store / "step_00000010.pt", cold)
    train(store, 5)
    assert restored(store) == 6
    away.rename(cold)

    assert restored(store) == 6
    assert steps_in(store) == [5, 10]


@pytest.mark.filterwarnings("ignore:instride. :RuntimeWarning")
def test_training_starts_on_a_store_whose_manifests_cannot_be_looked_at_and_saves_say_so(
    tmp_path: Path,
) -> None:
    train(tmp_path, 1)
    folder = manifests_folder(tmp_path / "step_00000001.pt")
    away = folder.rename(folder.with_name("away"))
    folder.symlink_to(folder.name)  # it leads to itself

    with instride.Saver(tmp_path, weights=Weights(10)) as saver:
        with pytest.raises(SaveFailedError):
            saver.save(2).wait(60)
        folder.unlink()
        away.rename(folder)
        saver.save(3).wait(60)

    assert steps_in(tmp_path) == [1, 3]
    assert '"kind":"sweep-failed"' in (folder.parent / "journal.jsonl").read_text()


def test_a_restore_does_not_go_back_because_the_newest_is_on_a_disk_that_is_away(
    tmp_path: Path,
) -> None:
    """Its work would be done again, and nobody would know."""
    store, cold = tmp_path / "store", tmp_path / "cold"
    train(store, 10, 20)
    newest = store / "step_00000020.pt"
    away = move_away(newest, cold)

    with instride.Saver(store, weights=Weights(10)) as saver:
        with pytest.raises(NoStoreError, match=newest.name):
            saver.restore()
        assert saver.restore(step=10) == 11, "who asks for the older one gets it"

    away.rename(cold)
    assert restored(store) == 21
