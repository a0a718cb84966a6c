"""What is left: bytes in number of checkpoints, inodes, quotas."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from instride.doctor.machine import space
from instride.doctor.machine.landings import look_at
from instride.doctor.machine.quotas import Quota, tightest_quota
from instride.doctor.machine.space import check_inodes, check_quota, check_space
from instride.doctor.model import Bytes, Certainty, Count, Finding, Unknown
from instride.system.filesystems import Kind
from instride.system.mounts import mount_of
from tests.unit.doctor.machine.making import GB, a_checkpoint, a_landing
from tests.unit.doctor.saying import said


@pytest.mark.parametrize(
    ("free_gb", "num", "certainty"),
    [(1, 0, Certainty.SURE), (19, 1, Certainty.LIKELY), (29, 2, Certainty.LIKELY)],
)
def test_space_is_counted_in_checkpoints(free_gb: int, num: int, certainty: Certainty) -> None:
    landing = a_landing(free_bytes=free_gb * GB, largest=a_checkpoint(10 * GB))
    [finding] = check_space(landing, None)
    assert finding.rule == "little-space"
    assert finding.facts["checkpoints"] == Count(num)
    assert finding.certainty is certainty
    assert "/data/out" in said(finding)["en"]


def test_room_for_three_is_enough() -> None:
    landing = a_landing(free_bytes=30 * GB, largest=a_checkpoint(10 * GB))
    assert list(check_space(landing, None)) == []


def test_a_small_checkpoint_fits_on_a_full_disk() -> None:
    landing = a_landing(free_bytes=GB, largest=a_checkpoint(GB // 100))
    assert list(check_space(landing, None)) == []


def test_another_disk_with_room_is_named() -> None:
    landing = a_landing(free_bytes=0, largest=a_checkpoint(GB))
    other = a_landing(path=Path("/fast"), folder=Path("/fast"))
    [finding] = check_space(landing, other)
    assert finding.fixes[-1].text == "mkdir -p /fast/out && ln -s /fast/out /data/out"


def test_a_real_small_disk_is_full_without_any_checkpoint(small_mount: Path) -> None:
    (small_mount / "data").write_bytes(bytes(4_100_000))
    landing = look_at(small_mount / "out")
    assert landing is not None
    [finding] = check_space(landing, None)
    assert finding.rule == "disk-nearly-full"
    assert finding.facts["free"] == Bytes(landing.free_bytes)
    assert said(finding)


def test_a_real_small_disk_has_no_room_for_a_real_checkpoint(small_mount: Path) -> None:
    (small_mount / "step_1.pt").write_bytes(bytes(3_000_000))
    landing = look_at(small_mount)
    assert landing is not None
    [finding] = check_space(landing, None)
    assert finding.rule == "little-space"
    assert finding.facts["checkpoints"] == Count(0)


def test_a_real_disk_with_few_inodes_is_told(small_mount: Path) -> None:
    landing = look_at(small_mount)
    assert landing is not None
    [finding] = check_inodes(landing)
    count = finding.facts["files"]
    assert isinstance(count, Count)
    assert 0 < count.value <= 64
    assert said(finding)


def test_inodes_and_space_that_are_made_up_are_left_alone() -> None:
    """As filesystems of programs do."""
    landing = a_landing(kind=Kind.FUSE, num_free_inodes=0, free_bytes=0, total_bytes=0)
    assert list(check_inodes(landing)) == []
    assert list(check_space(landing, None)) == []


@pytest.mark.parametrize("num", [None, 5000])
def test_enough_inodes_or_none_at_all_are_left_alone(num: int | None) -> None:
    assert list(check_inodes(a_landing(num_free_inodes=num))) == []


def a_quota(monkeypatch: pytest.MonkeyPatch, used: int, limit: int) -> None:
    """Real ones need a filesystem that few kernels for tests can make."""
    monkeypatch.setattr(space, "tightest_quota", lambda _: Quota("user 1000", used, limit))


def test_a_quota_that_is_nearly_used_up_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    a_quota(monkeypatch, used=95 * GB, limit=100 * GB)
    [finding] = check_quota(a_landing())
    assert isinstance(finding, Finding)
    assert finding.facts["left"] == Bytes(5 * GB)
    assert said(finding)


def test_a_quota_for_fewer_than_three_checkpoints_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    a_quota(monkeypatch, used=50 * GB, limit=100 * GB)
    assert list(check_quota(a_landing())) == []
    assert len(list(check_quota(a_landing(largest=a_checkpoint(20 * GB))))) == 1


def test_the_quota_of_a_file_server_is_not_known() -> None:
    [unknown] = check_quota(a_landing(kind=Kind.NETWORK))
    assert isinstance(unknown, Unknown)
    assert unknown.id == "quota"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the system call is Linux's")
def test_a_filesystem_without_quotas_has_none(small_mount: Path) -> None:
    mount = mount_of(small_mount)
    assert mount is not None
    assert tightest_quota(mount) is None
