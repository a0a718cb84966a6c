"""Where checkpoints land, on this machine."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest

from instride.doctor.machine.landings import (
    Landing,
    SilentError,
    answer_of,
    look_at,
    one_a_mount,
)
from instride.system.filesystems import Kind
from tests.unit.doctor.machine.making import GB, a_checkpoint, a_landing


def seen(path: Path) -> Landing:
    landing = look_at(path)
    assert landing is not None
    return landing


def test_a_directory_that_does_not_exist_yet_is_judged_by_what_does(tmp_path: Path) -> None:
    landing = seen(tmp_path / "runs" / "out")
    assert landing.folder == tmp_path
    assert landing.total_bytes == shutil.disk_usage(tmp_path).total
    assert landing.largest is None


def test_checkpoints_that_are_there_tell_their_size(tmp_path: Path) -> None:
    (tmp_path / "step_1.pt").write_bytes(bytes(123))
    assert seen(tmp_path).checkpoint_bytes == 123


def test_a_real_memory_filesystem_is_told(small_mount: Path) -> None:
    landing = seen(small_mount / "out")
    assert landing.kind is Kind.MEMORY
    assert landing.mount.point == str(small_mount)
    assert landing.total_bytes == 4 << 20
    assert landing.filesystem == "tmpfs"


def test_of_landings_on_one_mount_the_largest_checkpoint_counts() -> None:
    small, large = (a_landing(largest=a_checkpoint(size)) for size in (GB, 2 * GB))
    assert one_a_mount([a_landing(), small, large, small]) == [large]


def test_a_filesystem_that_does_not_answer_is_left_behind() -> None:
    never = threading.Event()
    with pytest.raises(SilentError):
        answer_of(never.wait, patience_s=0.01)
    never.set()


def test_what_the_system_says_instead_is_raised() -> None:
    with pytest.raises(FileNotFoundError):
        answer_of(lambda: Path("/does/not/exist").stat())
