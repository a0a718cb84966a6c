"""What must be true of a store after anything."""

from __future__ import annotations

import fcntl
import os
import select
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch

import instride
from instride.store.directory import LATEST, checkpoints_in, leftovers_in, name_of, newest_first
from instride.store.verifying import verify
from tests.crash.zygote import PATIENCE_S, Zygote


def await_free(store: Path) -> None:
    """Wait until no writer owns the store."""
    fd = os.open(store / ".instride" / "lock", os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
    finally:
        os.close(fd)


def await_end_of(pid: int) -> None:
    """Wait until a process that is not our child has ended."""
    with suppress(ProcessLookupError):
        fd = os.pidfd_open(pid)
        try:
            assert select.select([fd], [], [], PATIENCE_S)[0], f"process {pid} does not end"
        finally:
            os.close(fd)


def assert_sound(store: Path) -> int | None:
    """Every final name is a whole checkpoint of its step; the newest step, None without any."""
    for checkpoint in checkpoints_in(store):
        assert checkpoint.is_ours, f"{checkpoint.path.name} has no manifest"
        verify(checkpoint.path)
        assert_holds(checkpoint.path, checkpoint.step)
    newest = newest_first(store)
    return newest[0].step if newest else None


def assert_holds(path: Path, step: int) -> None:
    """The file, or what its pack was made from, is what `torch.save` could have written at that
    step, to the last value."""
    state = instride.load(path)["weights"]
    values = state["values"]
    assert torch.equal(values, torch.arange(step, step + len(values), dtype=torch.int32))
    assert state["names"] == [f"after step {step}"]


def lose_a_writer(zygote: Zygote, store: Path, phase: str, once: Path, **options: Any) -> None:
    """Save two steps while a writer is killed at a phase of the first: the trainer notices nothing
    but the time."""
    training = zygote.start(
        "train", store=store, steps=[3, 4], faults=f"kill@{phase}", once=once, **options
    )
    said = training.hear_all()

    assert training.wait() == 0
    assert once.exists()
    assert [word for word in said if word[0] == "committed"] == [("committed", 3), ("committed", 4)]
    assert assert_sound(store) == 4


def assert_swept(store: Path) -> None:
    """Nothing lies around, and the link leads to what is newest."""
    assert list(leftovers_in(store)) == []
    newest = newest_first(store)
    if newest:
        assert (store / LATEST).readlink() == Path(newest[0].path.name)


def steps_in(store: Path) -> list[int]:
    return [checkpoint.step for checkpoint in checkpoints_in(store)]


def path_of(store: Path, step: int) -> Path:
    return store / name_of(step)


def copy_of(store: Path, into: Path) -> Path:
    shutil.copytree(store, into, symlinks=True)
    return into
