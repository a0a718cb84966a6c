"""How many cores there are to use."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

import pytest

from instride.system.cores import (
    cores_of_process,
    has_accelerator,
    leave_core_of_parent,
    quotas,
    usable_cores,
)
from tests.unit.system.trees import Tree, write

R = TypeVar("R")


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


def bound_to_one_core(do: Callable[[], R]) -> R:
    """In a thread that is kept on a core of its own, as OpenMP does with those that compute."""

    def bind_and_do() -> R:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        return do()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(bind_and_do).result(60)


on_linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere threads are not bound")


@on_linux
def test_a_thread_that_is_bound_to_a_core_does_not_stand_for_its_process() -> None:
    everywhere = os.sched_getaffinity(0)
    assert bound_to_one_core(cores_of_process) == everywhere
    assert bound_to_one_core(usable_cores) == usable_cores()


@on_linux
def test_what_a_bound_thread_starts_can_leave_its_core() -> None:
    everywhere = os.sched_getaffinity(0)

    def where_another_thread_runs() -> set[int]:
        with ThreadPoolExecutor(1, initializer=leave_core_of_parent) as pool:
            return pool.submit(os.sched_getaffinity, 0).result(60)

    def where_another_process_runs() -> set[int]:
        with subprocess.Popen(["sleep", "60"]) as process:
            leave_core_of_parent(process.pid)
            found = os.sched_getaffinity(process.pid)
            process.kill()
        return found

    assert bound_to_one_core(where_another_thread_runs) == everywhere
    assert bound_to_one_core(where_another_process_runs) == everywhere


def a_machine_with_two_threads_a_core(root: Path, written: str) -> None:
    """What the system says of its fourth core."""
    write(root / "devices/system/cpu/cpu3/topology/thread_siblings_list", written)


@on_linux
@pytest.mark.parametrize(
    ("written", "halves"),
    [("3,19\n", {3, 19}), ("3-4\n", {3, 4}), ("3-4,19-20\n", {3, 4, 19, 20})],
)
def test_a_thread_that_is_bound_to_both_halves_of_a_core_does_not_stand_for_its_process(
    written: str, halves: set[int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As OpenMP does with `OMP_PLACES=cores`."""
    everywhere = set(range(32))
    a_machine_with_two_threads_a_core(tmp_path, written)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(everywhere if pid else halves))
    assert cores_of_process(sys_root=tmp_path) == everywhere


@on_linux
@pytest.mark.parametrize("written", ["3,19\n", "", "nonsense\n", "3-\n"])
def test_halves_of_several_cores_are_somebodys_choice(
    written: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = {3, 4, 19, 20}
    a_machine_with_two_threads_a_core(tmp_path, written)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(32)) if pid else chosen)
    assert cores_of_process(sys_root=tmp_path) == chosen


@on_linux
def test_cores_that_somebody_chose_are_kept_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """As scripts do that stay near their GPU, in a thread that others were there before."""
    chosen = {4, 5}
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(8)) if pid else chosen)
    assert cores_of_process() == chosen
