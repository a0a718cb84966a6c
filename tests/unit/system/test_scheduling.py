"""Whether a nice value counts: where two processes part in the tree of scheduling groups."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from instride.system import autogroup
from instride.system.scheduling import Position, parting, position_of, weight_of
from tests.unit.system.trees import Tree, write

TRAINER, OTHER = 10, 20


def positions(tree: Tree) -> tuple[Position, Position]:
    return position_of(OTHER, tree.proc), position_of(TRAINER, tree.proc)


def in_root(tree: Tree, trainer: str, other: str) -> None:
    """Two processes outside all groups, in autogroups."""
    top = tree.mount(2)
    write(top / "cgroup.procs", "")
    for pid, text in ((TRAINER, trainer), (OTHER, other)):
        tree.process(pid, "0::/")
        tree.autogroup(pid, text)


def test_in_one_autogroup_nice_values_count(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    in_root(tree, "/autogroup-5 nice 0\n", "/autogroup-5 nice 0\n")
    other, trainer = positions(tree)
    assert parting(other, trainer) is None


def test_in_two_autogroups_those_of_the_groups_count(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    in_root(tree, "/autogroup-5 nice 0\n", "/autogroup-6 nice 19\n")
    other, trainer = positions(tree)
    found = parting(other, trainer)
    assert found is not None
    assert (found.file, found.value) == (f"/proc/{OTHER}/autogroup", "/autogroup-6 nice 19")
    assert found.weight < 0.02 * weight_of(trainer, other)


def test_without_autogroups_nice_values_count(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    in_root(tree, "/autogroup-5 nice 0\n", "/autogroup-6 nice 0\n")
    write(tree.proc / "sys/kernel/sched_autogroup_enabled", "0\n")
    other, trainer = positions(tree)
    assert parting(other, trainer) is None


def test_in_control_groups_autogroups_count_for_nothing(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    in_root(tree, "/autogroup-5 nice 0\n", "/autogroup-6 nice 0\n")
    top = tree.mount(2)
    write(top / "user/cpu.weight", "100\n")
    for pid in (TRAINER, OTHER):
        tree.process(pid, "0::/user/session")
    other, trainer = positions(tree)
    assert parting(other, trainer) is None


@pytest.mark.parametrize(("weight", "idle", "yields"), [("100", "0", False), ("100", "1", True),
                                                        ("20", "0", True)])  # fmt: skip
def test_control_groups_compete_by_their_weights(
    tmp_path: Path, weight: str, idle: str, yields: bool
) -> None:
    tree = Tree(tmp_path)
    top = tree.mount(2)
    for name, its_weight, its_idle in (("train", "100", "0"), ("pack", weight, idle)):
        write(top / "jobs/cpu.weight", "100\n")
        write(top / "jobs" / name / "cpu.weight", f"{its_weight}\n")
        write(top / "jobs" / name / "cpu.idle", f"{its_idle}\n")
    tree.process(TRAINER, "0::/jobs/train")
    tree.process(OTHER, "0::/jobs/pack/inner")
    other, trainer = positions(tree)
    found = parting(other, trainer)
    assert found is not None
    assert found.file == str(top / "jobs/pack/cpu.idle")
    assert (found.weight < 0.5 * weight_of(trainer, other)) is yields


def test_version_1_has_shares_and_marks_its_root(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    top = tree.mount(1, "cpu")
    write(top / "release_agent", "")
    write(top / "cpu.shares", "1024\n")
    write(top / "batch/cpu.shares", "1024\n")
    tree.process(TRAINER, "3:cpu:/")
    tree.process(OTHER, "3:cpu:/batch")
    other, trainer = positions(tree)
    assert trainer.groups == ()
    found = parting(other, trainer)
    assert found is not None
    assert (found.file, found.lowered) == (str(top / "batch/cpu.shares"), "2")


def test_on_this_machine_two_sessions_part() -> None:
    if not autogroup.is_enabled() or position_of(os.getpid()).autogroup is None:
        pytest.skip("autogroups do not count here")
    child = subprocess.Popen(
        [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, start_new_session=True
    )
    try:
        found = parting(position_of(child.pid), position_of(os.getpid()))
    finally:
        child.communicate(b"\n")
    assert found is not None
    assert found.file == f"/proc/{child.pid}/autogroup"
