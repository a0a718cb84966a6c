"""A training on a GPU, or its writer, killed at every named phase: what is there is whole."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from instride.faults import (
    ARRIVE_PHASE,
    LATE_PHASE,
    ONCE,
    TRAINER_PHASES,
    VARIABLE,
    WRITER_PHASES,
)
from instride.store.directory import checkpoints_in, newest_first
from instride.store.verifying import verify
from tests.crash.checks import await_free
from tests.gpu.trainer import STEPS, values_of
from tests.gpu.trainings import NEEDS_A_GPU

# All of them are started by the first, in whatever process that runs.
pytestmark = [*NEEDS_A_GPU, pytest.mark.alone]

ROOMS = ("room", "no-room", "late")
CASES = [
    *((phase, where) for phase in TRAINER_PHASES for where in ROOMS),
    *((phase, "room") for phase in WRITER_PHASES),
    (ARRIVE_PHASE, "room"),
    (LATE_PHASE, "late"),
]
PATIENCE_S = 240
KILLED_AT = 3
TIMES = {ARRIVE_PHASE: 7, **dict.fromkeys((*TRAINER_PHASES, LATE_PHASE), KILLED_AT)}
"""A snapshot arrives in two steps at least, and five at the most: it is one behind the first."""


@pytest.fixture(scope="module")
def stores(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[dict[tuple[str, str], tuple[Path, subprocess.Popen[str]]]]:
    """All trainings at once: a process takes seconds to load torch, and a device is shared."""
    started = {}
    for phase, where in CASES:
        folder = tmp_path_factory.mktemp(f"{phase}-{where}")
        environment = {
            **os.environ,
            VARIABLE: f"kill@{phase}#{TIMES.get(phase, 1)}",
            ONCE: str(folder / "killed"),
        }
        started[phase, where] = (
            folder / "store",
            subprocess.Popen(
                [sys.executable, "-m", "tests.gpu.trainer", str(folder / "store"), where],
                stdout=subprocess.PIPE,
                env=environment,
                text=True,
            ),
        )
    yield started
    for _, process in started.values():
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


@pytest.mark.parametrize(("phase", "where"), CASES)
def test_a_store_is_sound_after_a_kill(
    phase: str, where: str, stores: dict[tuple[str, str], tuple[Path, subprocess.Popen[str]]]
) -> None:
    store, process = stores[phase, where]
    told, _ = process.communicate(timeout=PATIENCE_S)
    await_free(store)

    assert (store.parent / "killed").exists(), "nobody came to that phase"
    for checkpoint in checkpoints_in(store):
        assert checkpoint.is_ours
        verify(checkpoint.path)
        saved = torch.load(checkpoint.path, weights_only=True, map_location="cpu")
        assert torch.equal(saved["state"]["values"].int(), values_of(checkpoint.step, "cpu"))
    newest = newest_first(store)[0].step
    committed = [int(line) for line in told.split()]
    assert newest >= max(committed)
    if phase in WRITER_PHASES:
        assert committed == list(STEPS)
        return
    assert process.returncode < 0
    if phase == ARRIVE_PHASE:
        assert newest == committed[-1] < STEPS[-1]
    else:
        assert committed == list(range(1, KILLED_AT))
