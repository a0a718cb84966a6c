"""Snapshots that are written while they arrive: nothing of them is written before it has come, and
whoever is killed or fails meanwhile, the store is sound."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest
import torch

import instride
from instride.errors import SaveFailedError
from instride.faults import ARRIVE_PHASE, SAVE_PHASES
from instride.store.directory import checkpoints_in, name_of
from instride.store.manifest import PIECE_BYTES
from instride.store.verifying import verify
from instride.writer.page import PROGRESS
from tests.crash.arriving import ArrivingCopy, poison
from tests.crash.checks import assert_sound, assert_swept, await_free, steps_in
from tests.crash.trainings import Weights, engine_of
from tests.crash.zygote import Zygote

pytestmark = pytest.mark.torch

NUM_VALUES = (26 << 20) // 4
PATIENCE_S = 60.0


@pytest.fixture
def arriving(monkeypatch: pytest.MonkeyPatch) -> type[ArrivingCopy]:
    monkeypatch.setattr("instride.saver.staging.WholeCopy", ArrivingCopy)
    return ArrivingCopy


def test_what_has_come_is_written_while_the_rest_is_on_its_way(
    arriving: type[ArrivingCopy], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = Weights(NUM_VALUES)
    weights.become(1)
    with instride.Saver(tmp_path, weights=weights, budget=None) as saver:
        engine = engine_of(saver)
        had_written: list[bool] = []

        def await_writer(place: int) -> None:
            if not had_written and place > 4 * PIECE_BYTES:
                until_s = time.monotonic() + PATIENCE_S
                while engine.page[PROGRESS] == 0 and time.monotonic() < until_s:
                    time.sleep(0.01)
                had_written.append(engine.page[PROGRESS] > 0)

        monkeypatch.setattr(arriving, "meanwhile", staticmethod(await_writer))
        pending = saver.save(1)
        pending.wait(PATIENCE_S)
    assert had_written == [True]
    verify(pending.path)
    restored = Weights(NUM_VALUES)
    restored.load_state_dict(torch.load(pending.path, weights_only=True)["weights"])
    assert restored.is_of(1)


def test_nothing_is_written_before_it_has_come(
    arriving: type[ArrivingCopy], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What lies in the arena until then is of the save before, or worse."""
    weights = Weights(NUM_VALUES)
    with instride.Saver(tmp_path, weights=weights) as saver:
        for step in (1, 2, 3):
            weights.become(step)
            poison(engine_of(saver)._stager.arena.memory)
            saver.save(step).wait(PATIENCE_S)
    for checkpoint in checkpoints_in(tmp_path):
        verify(checkpoint.path)
        restored = Weights(NUM_VALUES)
        restored.load_state_dict(torch.load(checkpoint.path, weights_only=True)["weights"])
        assert restored.is_of(checkpoint.step)


@pytest.mark.filterwarnings("ignore:instride:RuntimeWarning")
def test_what_ends_it_halfway_is_told_and_the_next_save_is_good(
    arriving: type[ArrivingCopy], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = Weights(NUM_VALUES)
    weights.become(1)

    def fail(place: int) -> None:
        if place > 2 * PIECE_BYTES:
            raise RuntimeError("the bus is gone")

    with instride.Saver(tmp_path, weights=weights) as saver:
        with monkeypatch.context() as failing:
            failing.setattr(arriving, "meanwhile", staticmethod(fail))
            with pytest.raises(SaveFailedError, match="the bus is gone"):
                saver.save(1).wait(PATIENCE_S)
        saver.save(2).wait(PATIENCE_S)
    assert steps_in(tmp_path) == [2]
    assert_swept(tmp_path)


@pytest.mark.filterwarnings("ignore:instride:RuntimeWarning")
@pytest.mark.parametrize("when_busy", ["wait", "skip"])
def test_a_save_that_failed_before_all_had_come_is_not_mixed_with_the_next_one(
    when_busy: Any, arriving: type[ArrivingCopy], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The writer may answer while the trainer still fills the arena."""
    weights = Weights(NUM_VALUES)
    goes_on = threading.Event()
    (tmp_path / name_of(1)).mkdir()
    with instride.Saver(tmp_path, weights=weights, when_busy=when_busy) as saver:
        weights.become(1)
        monkeypatch.setattr(arriving, "meanwhile", staticmethod(lambda place: goes_on.wait(60)))
        failed = saver.save(1)
        with pytest.raises(SaveFailedError):
            failed.wait(PATIENCE_S)
        weights.become(2)
        if when_busy == "skip":
            assert saver.save(2).is_skipped
            goes_on.set()
            while saver.save(2).is_skipped:
                time.sleep(0.01)
        else:
            threading.Timer(0.3, goes_on.set).start()
            saver.save(2)
        assert goes_on.is_set()
    restored = Weights(NUM_VALUES)
    restored.load_state_dict(torch.load(tmp_path / name_of(2), weights_only=True)["weights"])
    assert restored.is_of(2)


@pytest.mark.parametrize("number", [1, 4, 9])
def test_a_trainer_killed_while_its_snapshot_arrives_leaves_what_was_committed_before(
    number: int, zygote: Zygote, store: Path
) -> None:
    training = zygote.start(
        "train", store=store, steps=[3], faults=f"kill@{ARRIVE_PHASE}#{number}", arrives=True
    )
    training.hear_all()
    assert training.wait() == -9
    await_free(store)
    assert assert_sound(store) == 2

    training = zygote.start("train", store=store, steps=[4], arrives=True)
    said: list[Any] = training.hear_all()
    assert training.wait() == 0
    assert ("restored", 2) in said
    assert assert_sound(store) == 4
    assert_swept(store)


@pytest.mark.parametrize("phase", SAVE_PHASES)
def test_a_writer_killed_while_a_snapshot_arrives_is_replaced(
    phase: str, zygote: Zygote, store: Path, tmp_path: Path
) -> None:
    training = zygote.start(
        "train", store=store, steps=[3], faults=f"kill@{phase}", once=tmp_path / "once", keep=2,
        arrives=True,
    )  # fmt: skip
    said = training.hear_all()
    assert training.wait() == 0
    assert (tmp_path / "once").exists()
    assert ("committed", 3) in said
    assert assert_sound(store) == 3
