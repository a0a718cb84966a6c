"""How many cores there are to use."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from instride.system.cores import has_accelerator, quotas, usable_cores
from tests.unit.system.trees import Tree, write


def test_a_quota_of_any_group_above_counts(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    top = tree.mount(2)
    tree.process("self", "0::/pod/box")
    write(top / "pod/box/cpu.max", "max 100000\n")
    write(top / "pod/cpu.max", "150000 100000\n")
    assert list(quotas(tree.proc)) == [1.5]
    assert usable_cores(tree.proc) <= 2


def test_version_1_has_two_files(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    top = tree.mount(1, "cpu")
    tree.process("self", "4:cpu:/box")
    write(top / "box/cpu.cfs_quota_us", "50000\n")
    write(top / "box/cpu.cfs_period_us", "100000\n")
    write(top / "cpu.cfs_quota_us", "-1\n")
    write(top / "cpu.cfs_period_us", "100000\n")
    assert list(quotas(tree.proc)) == [0.5]
    assert usable_cores(tree.proc) == 1


def test_without_groups_the_affinity_counts(tmp_path: Path) -> None:
    assert usable_cores(tmp_path / "nothing") >= 1
    assert list(quotas(tmp_path / "nothing")) == []


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is no telling by devices")
def test_an_accelerator_is_told_by_its_device(tmp_path: Path) -> None:
    assert not has_accelerator(tmp_path)
    (tmp_path / "nvidiactl").touch()
    assert not has_accelerator(tmp_path)
    (tmp_path / "nvidia0").touch()
    assert has_accelerator(tmp_path)
