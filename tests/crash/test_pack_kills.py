"""SIGKILL at every phase of packing and unpacking: no checkpoint is lost, no half has a name."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from instride.faults import PACK_PHASES, VARIABLE
from instride.pack.packing import pack
from instride.pack.reading import PackFile
from instride.pack.unpacking import unpack, verify_pack
from instride.store.directory import LATEST, committed_in, leftovers_in
from instride.store.removing import remove
from instride.store.verifying import verify
from tests.unit.pack.packs import weights
from tests.unit.store.committing import commit

DATA = weights(50_000)
OF_PACK = [phase for phase in PACK_PHASES if phase.startswith("pack.")]
OF_UNPACK = [phase for phase in PACK_PHASES if phase.startswith("unpack.")]


@pytest.fixture
def original(tmp_path: Path) -> Path:
    path = commit(tmp_path, 500, DATA)
    (tmp_path / LATEST).unlink()
    return path


def killed_at(phase: str, verb: str, path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "instride", verb, path],
        env={**os.environ, VARIABLE: f"kill@{phase}"},
        capture_output=True,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL, done.stderr


def readable(path: Path) -> bytes:
    if path.suffix != ".pack":
        return path.read_bytes()
    with PackFile(path) as file:
        return file.read() or b""


def assert_nothing_is_lost(store: Path) -> None:
    committed = committed_in(store)
    assert committed
    for checkpoint in committed:
        verify(checkpoint.path)
        assert readable(checkpoint.path) == DATA
    named = [path for path in store.iterdir() if not path.name.startswith(".")]
    assert sorted(named) == sorted(checkpoint.path for checkpoint in committed)


def sweep(store: Path) -> None:
    """What the next owner of a store does."""
    for path in list(leftovers_in(store)):
        path.unlink()


@pytest.mark.parametrize("phase", OF_PACK)
def test_packing_killed_at(phase: str, original: Path) -> None:
    store = original.parent
    killed_at(phase, "pack", original)
    assert_nothing_is_lost(store)
    sweep(store)
    assert_nothing_is_lost(store)
    if original.exists():
        pack(original, force=True)
    assert [path.name for path in store.iterdir() if path.name != ".instride"] == [
        "step_00000500.pt.pack"
    ]
    verify_pack(store / "step_00000500.pt.pack")


@pytest.mark.parametrize("phase", OF_UNPACK)
def test_unpacking_killed_at(phase: str, original: Path) -> None:
    store = original.parent
    packed = Path(pack(original).path)
    killed_at(phase, "unpack", packed)
    assert_nothing_is_lost(store)
    sweep(store)
    unpack(packed, force=True)
    assert_nothing_is_lost(store)
    remove(packed)
    assert_nothing_is_lost(store)


def test_a_disk_that_is_full_leaves_the_original_alone(original: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "instride", "pack", original],
        env={**os.environ, VARIABLE: "ENOSPC@pack.write", "LC_ALL": "C"},
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode != 0
    assert "No space left" in done.stderr or "ENOSPC" in done.stderr or "asked for" in done.stderr
    assert_nothing_is_lost(original.parent)
    assert list(leftovers_in(original.parent)) == []
