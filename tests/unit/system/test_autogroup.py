"""Autogroups, made up and of this machine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from instride.system import autogroup
from instride.system.autogroup import Autogroup
from tests.unit.system.trees import Tree, write


def test_a_group_has_a_number_and_a_nice_value(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    tree.autogroup(7, "/autogroup-149 nice -5\n")
    assert autogroup.of(7, tree.proc) == Autogroup(149, -5)
    assert autogroup.is_enabled(tree.proc)


@pytest.mark.parametrize("text", ["", "/autogroup-x nice 0\n", "/ nice 0"])
def test_what_cannot_be_read_is_no_group(tmp_path: Path, text: str) -> None:
    tree = Tree(tmp_path)
    tree.autogroup(7, text)
    assert autogroup.of(7, tree.proc) is None


def test_without_the_files_there_are_no_groups(tmp_path: Path) -> None:
    assert not autogroup.is_enabled(tmp_path)
    assert autogroup.of(7, tmp_path) is None
    write(tmp_path / "sys/kernel/sched_autogroup_enabled", "0\n")
    assert not autogroup.is_enabled(tmp_path)


def test_a_new_session_is_a_group_of_its_own() -> None:
    if autogroup.of() is None:
        pytest.skip("this kernel has no autogroups")
    child = subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True
    )
    try:
        own, its = autogroup.of(), autogroup.of(child.pid)
    finally:
        child.communicate(b"\n")
    assert own is not None
    assert its is not None
    assert own.id != its.id
