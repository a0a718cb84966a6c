"""The disks below a filesystem, and their schedulers."""

from __future__ import annotations

import sys as python
from pathlib import Path

import pytest

from instride.system.disks import Disk, disks_of
from instride.system.mounts import Mount, mount_of
from tests.unit.system.trees import write


def a_disk(sys: Path, name: str, number: str, scheduler: str) -> Path:
    folder = sys / "devices" / name
    write(folder / "queue/scheduler", f"{scheduler}\n")
    link(sys, number, folder)
    return folder


def link(sys: Path, number: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (sys / "dev/block").mkdir(parents=True, exist_ok=True)
    (sys / "dev/block" / number).symlink_to(folder)


def mounted(number: str, source: str = "/dev/x") -> Mount:
    return Mount("/", "ext4", source, (), device=number)


def test_the_scheduler_in_brackets_is_the_active_one(tmp_path: Path) -> None:
    a_disk(tmp_path, "nvme0n1", "259:0", "[none] mq-deadline kyber bfq")
    [disk] = disks_of(mounted("259:0"), tmp_path)
    assert disk == Disk("nvme0n1", "none", ("none", "mq-deadline", "kyber", "bfq"))
    assert disk.scheduler_file == "/sys/block/nvme0n1/queue/scheduler"
    assert not disk.obeys_priorities


def test_a_partition_has_the_scheduler_of_its_disk(tmp_path: Path) -> None:
    disk = a_disk(tmp_path, "sda", "8:0", "none [bfq]")
    link(tmp_path, "8:2", disk / "sda2")
    write(disk / "sda2/partition", "2\n")
    [found] = disks_of(mounted("8:2"), tmp_path)
    assert (found.name, found.scheduler) == ("sda", "bfq")
    assert found.obeys_priorities


def test_volumes_and_arrays_lead_to_the_disks_below(tmp_path: Path) -> None:
    volume = a_disk(tmp_path, "dm-0", "253:0", "[none]")
    for name, number in (("sda", "8:0"), ("sdb", "8:16")):
        disk = a_disk(tmp_path, name, number, "none [mq-deadline]")
        (volume / "slaves").mkdir(exist_ok=True)
        (volume / "slaves" / name).symlink_to(disk)
    assert [disk.name for disk in disks_of(mounted("253:0"), tmp_path)] == ["sda", "sdb"]


def test_layers_in_a_circle_end(tmp_path: Path) -> None:
    volume = a_disk(tmp_path, "dm-0", "253:0", "[none]")
    (volume / "slaves").mkdir()
    (volume / "slaves/dm-0").symlink_to(volume)
    assert disks_of(mounted("253:0"), tmp_path) == []


@pytest.mark.parametrize("source", ["tmpfs", "/dev/does-not-exist", "server:/export"])
def test_what_is_on_no_disk_has_none(tmp_path: Path, source: str) -> None:
    assert disks_of(mounted("0:40", source), tmp_path) == []


@pytest.mark.skipif(not python.platform.startswith("linux"), reason="only Linux has /sys")
def test_schedulers_of_this_machine_are_among_those_offered(tmp_path: Path) -> None:
    mount = mount_of(tmp_path)
    assert mount is not None
    assert all(disk.scheduler in disk.offered for disk in disks_of(mount))
