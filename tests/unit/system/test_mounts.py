"""Which filesystem a path is on."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import msgspec
import psutil
import pytest

from instride.system.mounts import Mount, mount_of, read_mounts

ROOT = "1 0 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,discard"
needs_mountinfo = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only Linux has a mountinfo"
)


def look(folder: Path, path: str, *lines: str) -> Mount:
    """Look a path up in made-up lines below a root of ext4."""
    file = folder / "mountinfo"
    file.write_text("\n".join((ROOT, *lines)) + "\n")
    found = mount_of(path, file)
    assert found is not None
    return found


def test_a_path_is_on_the_deepest_mount_above_it(tmp_path: Path) -> None:
    lines = (
        "2 1 0:40 / /data rw - nfs4 server:/data rw,vers=4.2",
        "3 2 8:2 / /data/fast rw - xfs /dev/sdb1 rw",
    )
    assert look(tmp_path, "/data/fast/run", *lines).type == "xfs"
    assert look(tmp_path, "/data/slow/run", *lines).type == "nfs4"
    assert look(tmp_path, "/database", *lines).type == "ext4"


def test_a_mount_carries_its_options_source_and_device(tmp_path: Path) -> None:
    found = look(tmp_path, "/data", "2 1 0:40 /vol1 /data ro,noatime - nfs4 server:/d ro,vers=4.2")
    assert found == Mount(
        "/data", "nfs4", "server:/d", ("ro", "noatime", "vers=4.2"), "/vol1", "0:40"
    )


def test_of_two_mounts_at_one_place_the_later_covers_the_earlier(tmp_path: Path) -> None:
    lines = ("2 1 0:40 / /data rw - tmpfs old rw", "3 2 0:41 / /data rw - tmpfs new rw")
    assert look(tmp_path, "/data/x", *lines).source == "new"


def test_a_mount_that_was_covered_from_above_is_not_seen(tmp_path: Path) -> None:
    lines = ("2 1 8:2 / /a/b rw - xfs /dev/sdb1 rw", "3 1 0:41 / /a rw - tmpfs tmpfs rw")
    assert look(tmp_path, "/a/b/c", *lines).type == "tmpfs"


def test_names_with_blanks_are_read_as_they_are(tmp_path: Path) -> None:
    found = look(tmp_path, "/my disk/run", r"2 1 8:2 / /my\040disk rw - 9p C:\134 rw,aname=drvfs")
    assert found.point == "/my disk"
    assert found.source == "C:\\"


def test_lines_that_are_cut_short_are_left_out(tmp_path: Path) -> None:
    assert look(tmp_path, "/data", "2 1 8:2 / /data rw", "", "junk - ").type == "ext4"


def test_mounts_in_a_circle_end_the_search(tmp_path: Path) -> None:
    lines = ("2 3 8:2 / /a rw - xfs one rw", "3 2 8:3 / /a rw - xfs two rw")
    assert look(tmp_path, "/a/b", *lines).type == "ext4"


@needs_mountinfo
def test_a_link_is_followed_to_the_mount_behind_it(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/proc/self")
    found = mount_of(tmp_path / "link" / "fd")
    assert found is not None
    assert found.type == "proc"


@needs_mountinfo
def test_on_this_machine_a_path_need_not_exist_yet(tmp_path: Path) -> None:
    present, absent = mount_of(tmp_path), mount_of(tmp_path / "not" / "yet")
    assert present is not None
    assert present == absent
    assert os.path.ismount(present.point)


@needs_mountinfo
def test_all_mounts_of_this_machine_have_absolute_points() -> None:
    assert all(mount.point.startswith("/") for mount in read_mounts())


def test_without_a_mountinfo_the_partitions_are_asked(tmp_path: Path) -> None:
    found = mount_of(tmp_path, tmp_path / "none")
    points = {part.mountpoint for part in psutil.disk_partitions(all=True)}
    assert found is not None
    assert found.point in points
    assert {mount.point for mount in read_mounts(tmp_path / "none")} == points


def test_without_a_mountinfo_the_device_decides_and_not_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on macOS, where `/Users` is no part of the read-only volume that `/` is."""
    users, volume = Path("/proc/self"), Path("/proc/sys")
    if not users.exists() or users.stat().st_dev == Path("/").stat().st_dev:
        pytest.skip("needs a second filesystem")
    parts = [_Part("/", "apfs", "system", "ro"), _Part(str(volume), "apfs", "data", "rw")]
    monkeypatch.setattr(psutil, "disk_partitions", lambda all: parts)
    assert mount_of(users, tmp_path / "none") == Mount(str(volume), "apfs", "data", ("rw",))


class _Part(msgspec.Struct):
    """A line of psutil's."""

    mountpoint: str
    fstype: str
    device: str
    opts: str
