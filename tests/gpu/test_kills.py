"""A training on a GPU, or its writer, or both, killed at every named phase: what was promised is
there, all that is there is whole, and the next training goes on from it.

A few of each kind are run on the host too, where CI has no GPU: so that this file stays right. What
can be said of the host is said by tests/crash.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import instride
from instride.faults import ARRIVE_PHASE, LATE_PHASE, TRAINER_PHASES, WRITER_PHASES
from instride.store.directory import checkpoints_in, newest_first
from instride.store.verifying import verify
from tests.crash.checks import assert_swept, await_free, steps_in
from tests.gpu.killing import AFTER_THE_NAME, HANDED_OVER, KILLED_AT, Kill, Killed
from tests.gpu.trainer import KEPT, STEPS, are_of, trained
from tests.gpu.trainings import NEEDS_A_GPU

ROOMS = ("room", "no-room", "late")
BEHIND_THE_REST = ("tail", "synced", "manifest")
"""Phases that a writer comes to with the last message of the trainer only. Killed before, it may be
replaced by a trainer that lives for a moment longer, or not."""
ON_GPUS = [
    *(Kill(phase, None, where) for phase in TRAINER_PHASES for where in ROOMS),
    Kill(ARRIVE_PHASE, None),
    Kill(LATE_PHASE, None, "late"),
    *(Kill(None, phase) for phase in WRITER_PHASES),
    *(Kill(None, phase, where) for phase in ("begun", "written") for where in ("no-room", "late")),
    *(Kill(HANDED_OVER, phase) for phase in (*BEHIND_THE_REST, *AFTER_THE_NAME)),
]
ON_THE_HOST = [
    Kill("copied", None, "late", "cpu"),
    Kill(HANDED_OVER, None, "room", "cpu"),
    Kill(ARRIVE_PHASE, None, "room", "cpu"),
    Kill(None, "synced", "no-room", "cpu"),
    Kill(HANDED_OVER, "synced", "room", "cpu"),
    Kill(HANDED_OVER, "renamed", "no-room", "cpu"),
]
# Those on a GPU are started by the first of them, in whatever process that runs.
KILLS = [
    *(pytest.param(kill, marks=[*NEEDS_A_GPU, pytest.mark.alone]) for kill in ON_GPUS),
    *(pytest.param(kill, marks=pytest.mark.torch) for kill in ON_THE_HOST),
]


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Killed]:
    killed = Killed(tmp_path_factory.mktemp("killed"), ON_GPUS)
    yield killed
    killed.close()


@pytest.mark.parametrize("kill", KILLS, ids=lambda kill: kill.name)
def test_a_store_has_what_was_promised_and_is_taken_up_again(kill: Kill, killed: Killed) -> None:
    status, committed = killed.end_of(kill)
    store = killed.store_of(kill)
    if kill.trainer == HANDED_OVER:
        # The writer may be at work: that it is waited for is a part of what is promised.
        newest = kill.newest_after(committed)
    else:
        await_free(store)
        newest = kill.newest_after(committed)
        assert newest_first(store)[0].step == newest
        assert_whole(store, kill.device)

    resume(store, kill, newest)

    assert_whole(store, kill.device)
    assert_swept(store)
    assert steps_in(store) == list(range(newest + 2 - KEPT, newest + 2))
    if None in (kill.trainer, kill.writer):
        assert killed.marker_of(kill).exists(), "nobody came to that phase"
    assert_killed(kill, status, committed)


def assert_whole(store: Path, device: str) -> None:
    """Whatever has a name holds the state of its step, and its manifest says the same."""
    for checkpoint in checkpoints_in(store):
        assert checkpoint.is_ours
        verify(checkpoint.path)
        saved = torch.load(checkpoint.path, weights_only=True, map_location="cpu")
        assert are_of(saved["state"]["values"], checkpoint.step, device)


def resume(store: Path, kill: Kill, newest: int) -> None:
    """The next training, here, restores the step that is promised and goes on for another one."""
    values = trained(kill.device, kill.where)
    with instride.Saver(store, keep=instride.Keep(last=KEPT), **values.parts) as saver:
        assert saver.restore() == newest + 1
        assert are_of(values.values, newest, kill.device)
        values.come_to(newest + 1)
        pending = saver.save(newest + 1)
        values.go_on()
        pending.wait(60)


def assert_killed(kill: Kill, status: int, committed: list[int]) -> None:
    """The training ended as it was to end, and told nothing that was not so."""
    if kill.trainer is None:
        assert status == 0
        assert committed == list(STEPS)
        return
    assert status < 0
    if kill.trainer == ARRIVE_PHASE:
        assert committed == list(range(1, len(committed) + 1))
        assert len(committed) < len(STEPS)
    else:
        told_before = list(range(1, KILLED_AT))
        # The writer may be quicker than the end of the process that it was sent to by.
        told_at_last = [[KILLED_AT]] if kill.trainer == HANDED_OVER else []
        assert committed in [told_before, *(told_before + last for last in told_at_last)]
