"""What an agent sweeps at its start, and what only looks as if nobody needed it."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import pytest

from instride.agent.sweeping import sweep
from instride.store.manifest import Manifest, manifests_folder, write_manifest
from tests.unit.store.unreachable import refuse_to_look_at

PATTERN = "*.pt"


def manifest_of(checkpoint: Path) -> Path:
    """As of a file that an agent made."""
    return write_manifest(checkpoint, Manifest(checkpoint.name, "0" * 16, 0, [], 1.0))


def test_the_manifest_of_a_file_that_is_out_of_reach_stays_and_that_of_none_goes(
    tmp_path: Path,
) -> None:
    packed, gone = tmp_path / "a.pt.zst", tmp_path / "b.pt.zst"
    kept, stray = manifest_of(packed), manifest_of(gone)
    packed.symlink_to(tmp_path / "not-mounted" / packed.name)

    assert sweep(tmp_path, PATTERN) == []

    assert sorted(manifests_folder(packed).iterdir()) == [kept]
    assert not stray.exists()


def test_what_cannot_be_looked_at_keeps_its_manifest_and_the_rest_is_swept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed, gone = tmp_path / "a.pt.zst", tmp_path / "b.pt.zst"
    kept, stray = manifest_of(packed), manifest_of(gone)
    refuse_to_look_at(packed, errno.EIO, monkeypatch)

    assert sweep(tmp_path, PATTERN) == []

    assert kept.exists()
    assert not stray.exists()


def test_a_directory_without_manifests_is_swept_too(tmp_path: Path) -> None:
    manifest_of(tmp_path / "a.pt.zst")
    shutil.rmtree(manifests_folder(tmp_path / "a.pt.zst"))
    (tmp_path / ".a.pt.zst.0123abcd.tmp").touch()

    assert sweep(tmp_path, PATTERN) == [".a.pt.zst.0123abcd.tmp"]
