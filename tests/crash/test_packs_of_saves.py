"""A Saver that packs: killed at every phase, with a base that is lost, or with no room."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest
import torch

import instride
from instride.errors import DamagedError, NoCheckpointError
from instride.faults import WRITER_PACK_PHASES
from instride.pack.container import HEADER
from instride.pack.packing import pack
from instride.store.checking import check
from instride.store.directory import LATEST, committed_in, leftovers_in
from instride.store.journal import journal_path
from instride.store.verifying import verify
from tests.crash.checks import (
    assert_sound,
    assert_swept,
    await_free,
    lose_a_writer,
    path_of,
    steps_in,
)
from tests.crash.trainings import Weights
from tests.crash.zygote import Zygote
from tests.unit.store.committing import flip

pytestmark = pytest.mark.torch

KEPT = 2


def kinds_in(store: Path) -> list[str]:
    """What the journal notes, in order."""
    lines = journal_path(store).read_text().splitlines()
    return [json.loads(line)["kind"] for line in lines]


def packs_in(store: Path) -> list[str]:
    return sorted(path.name for path in store.glob("*.pack"))


def saved(store: Path, *steps: int, keep: int | None = None) -> None:
    """Save steps that hardly differ, with packing."""
    # The states of random generators are a quarter of so small a pack: were they others each time,
    # a base would not pay.
    random.seed(1)
    np.random.seed(1)
    torch.manual_seed(1)
    weights = Weights()
    with instride.Saver(store, keep=instride.Keep(last=keep), weights=weights, pack=True) as saver:
        for step in steps:
            weights.become(step)
            saver.save(step).wait(60)


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    """A store with a full pack, and one that was made against it."""
    store = tmp_path / "store"
    for step in (1, 2):
        saved(store, step)
    assert [checkpoint.base for checkpoint in committed_in(store)] == [
        None,
        "step_00000001.pt.pack",
    ]
    return store


@pytest.mark.parametrize("phase", WRITER_PACK_PHASES)
def test_a_writer_killed_while_it_packs_at(
    phase: str, zygote: Zygote, store: Path, tmp_path: Path
) -> None:
    lose_a_writer(zygote, store, phase, tmp_path / "once", keep=KEPT, pack=True)
    resume(zygote, store, 4)


def resume(zygote: Zygote, store: Path, expected: int) -> None:
    """The next trainer restores the step, goes on, packs what is left, and leaves no trace."""
    training = zygote.start("train", store=store, steps=[9], keep=KEPT, pack=True)
    said = training.hear_all()
    assert training.wait() == 0
    assert ("restored", expected) in said
    assert assert_sound(store) == 9
    assert steps_in(store)[-KEPT:] == [expected, 9]
    assert all(checkpoint.path.suffix == ".pack" for checkpoint in committed_in(store))
    assert_swept(store)


def test_a_trainer_that_is_killed_leaves_the_file_or_the_pack(
    zygote: Zygote, tmp_path: Path
) -> None:
    store = tmp_path / "store"
    training = zygote.start(
        "train_at_once", store=store, step=3, waits=True, pack=True, faults="hang@pack.synced"
    )
    training.hear()
    training.tell()
    training.hear()
    training.kill()
    await_free(store)  # although what it packed hangs: nobody waits for that

    assert assert_sound(store) == 3
    resume_after_hang = zygote.start("train", store=store, steps=[9], keep=KEPT, pack=True)
    resume_after_hang.hear_all()
    assert resume_after_hang.wait() == 0
    assert packs_in(store) == ["step_00000003.pt.pack", "step_00000009.pt.pack"]
    assert_swept(store)


def test_a_disk_that_refuses_the_pack_keeps_the_file(zygote: Zygote, tmp_path: Path) -> None:
    store = tmp_path / "store"
    training = zygote.start("train", store=store, steps=[1], pack=True, faults="ENOSPC@pack.write")
    assert ("closed", None) in training.hear_all()
    assert training.wait() == 0

    assert assert_sound(store) == 1
    assert packs_in(store) == []
    assert list(leftovers_in(store)) == []
    assert kinds_in(store).count("pack-failed") == 1


def test_a_base_that_vanishes_is_found_told_of_and_not_needed_by_the_next(packed: Path) -> None:
    saved(packed, 3)
    (packed / "step_00000001.pt.pack").unlink()
    assert [(each.step, each.reason) for each in check(packed).checkpoints] == [
        (2, "no-base"),
        (3, "no-base"),
    ]
    with (
        pytest.warns(RuntimeWarning, match=r"`step_00000001\.pt\.pack` is not there"),
        instride.Saver(packed, weights=Weights()) as saver,
        pytest.raises(NoCheckpointError),
    ):
        saver.restore()
    saved(packed, 4)
    (newest,) = (checkpoint for checkpoint in committed_in(packed) if checkpoint.step == 4)
    assert (newest.path.suffix, newest.base) == (".pack", None)
    verify(newest.path)


def test_a_base_that_is_damaged_is_found_and_what_was_saved_before_is_restored(
    tmp_path: Path,
) -> None:
    store = tmp_path / "store"
    weights = Weights()
    with instride.Saver(store, weights=weights) as saver:
        for step in (1, 2, 3):
            weights.become(step)
            saver.save(step).wait(60)
    (store / LATEST).unlink()
    base = Path(pack(path_of(store, 2)).path)
    pack(path_of(store, 3), base)
    for offset in range(HEADER.size, base.stat().st_size // 2, 100):
        flip(base, offset)
    assert [each.step for each in check(store).checkpoints if each.state == "damaged"] == [2, 3]

    with (
        pytest.warns(RuntimeWarning, match=r"step_00000002\.pt\.pack` is damaged"),
        instride.Saver(store, weights=weights) as saver,
    ):
        assert saver.restore() == 2
    assert weights.is_of(1)


def test_a_checkpoint_that_went_bad_after_it_was_read_back_is_not_packed(packed: Path) -> None:
    """A pack of it would look whole."""
    weights = Weights()
    with instride.Saver(packed, weights=weights) as saver:
        weights.become(3)
        saver.save(3).wait(60)
    flip(packed / "step_00000003.pt", 1 << 20)

    with pytest.warns(RuntimeWarning, match="could not be packed"):
        saved(packed, 4)

    assert packs_in(packed)[-1] == "step_00000004.pt.pack"
    with pytest.raises(DamagedError):
        verify(packed / "step_00000003.pt")
    assert not (packed / "step_00000003.pt.pack").exists()
