"""Memory limits on every level of control groups, of both versions."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from instride.system import cgroups
from tests.unit.system.trees import GIB, Tree, limit_v1, limit_v2, write


def test_without_limits_the_machine_counts(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    tree.available(3 * GIB)
    top = tree.mount(2)
    tree.process("self", "0::/user.slice/run")
    limit_v2(top / "user.slice/run", "max", GIB)
    assert cgroups.memory_room_bytes(tree.proc) is None
    assert cgroups.available_memory_bytes(tree.proc) == 3 * GIB


KEPT = cgroups.RESERVED_BYTES + 128 * GIB // cgroups.INEXACT


@pytest.mark.parametrize(
    ("mode", "committed", "room"),
    [("0", 8, 3 * GIB), ("1", 8, 3 * GIB), ("2", 8, GIB - KEPT), ("2", 9, 0), ("2", 1, 3 * GIB)],
)
def test_where_memory_must_be_there_when_it_is_promised_that_counts(
    tmp_path: Path, mode: str, committed: int, room: int
) -> None:
    tree = Tree(tmp_path)
    tree.available(3 * GIB, commit_limit=9 * GIB, committed=committed * GIB)
    write(tree.proc / "sys/vm/overcommit_memory", f"{mode}\n")
    assert cgroups.available_memory_bytes(tree.proc) == room
    assert cgroups.must_be_there(tree.proc) == (mode == "2")


def test_a_line_that_nobody_understands_hides_no_other(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    write(tree.proc / "meminfo", f"Odd: some kB\nMemAvailable: {GIB // 1024} kB\nHugePages\n")
    assert cgroups.available_memory_bytes(tree.proc) == GIB


@pytest.mark.parametrize("group", ["/pod", "/pod/job", "/pod/job/step"])
def test_the_tightest_level_counts_wherever_it_is(tmp_path: Path, group: str) -> None:
    tree = Tree(tmp_path)
    top = tree.mount(2)
    tree.process("self", "0::/pod/job/step")
    for each in ("/pod", "/pod/job", "/pod/job/step"):
        limit_v2(top / each[1:], str((2 if each == group else 9) * GIB), GIB)
    assert cgroups.available_memory_bytes(tree.proc) == GIB


def test_version_1_is_read_as_well(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    top = tree.mount(1, "memory")
    tree.mount(2)
    tree.process("self", "5:cpu,cpuacct:/", "4:memory:/docker/abc", "0::/")
    limit_v1(top, (1 << 63) - 4096, 5 * GIB)
    limit_v1(top / "docker/abc", 4 * GIB, 3 * GIB, f"total_inactive_file {GIB}\n")
    assert cgroups.memory_room_bytes(tree.proc) == 2 * GIB


def test_memory_and_swap_together_are_a_limit_too(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    top = tree.mount(1, "memory")
    tree.process("self", "4:memory:/a")
    limit_v1(top / "a", 8 * GIB, GIB)
    write(top / "a/memory.memsw.limit_in_bytes", str(9 * GIB))
    write(top / "a/memory.memsw.usage_in_bytes", str(6 * GIB))
    assert cgroups.memory_room_bytes(tree.proc) == 3 * GIB


def test_a_container_sees_its_own_part_of_the_tree(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    top = tree.mount(1, "memory", seen_from="/docker/abc")
    tree.process("self", "4:memory:/docker/abc/inner")
    limit_v1(top, 2 * GIB, GIB)
    assert cgroups.memory_room_bytes(tree.proc) == GIB


def test_a_group_outside_the_own_namespace_is_judged_by_what_is_seen(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    top = tree.mount(2)
    tree.process("self", "0::/../../other")
    limit_v2(top, str(2 * GIB), GIB)
    assert cgroups.memory_room_bytes(tree.proc) == GIB


def test_cached_files_can_be_dropped_unless_they_are_unwritten(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    top = tree.mount(2)
    tree.process("self", "0::/a")
    stat = f"inactive_file {3 * GIB}\nfile_dirty {GIB}\nfile_writeback {GIB}\nanon {GIB}\n"
    limit_v2(top / "a", str(8 * GIB), 8 * GIB, stat)
    assert cgroups.memory_room_bytes(tree.proc) == GIB


def test_a_soft_limit_of_version_2_counts(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    top = tree.mount(2)
    tree.process("self", "0::/a")
    limit_v2(top / "a", "max", GIB)
    write(top / "a/memory.high", str(3 * GIB))
    assert cgroups.memory_room_bytes(tree.proc) == 2 * GIB


def test_a_group_beyond_its_limit_has_no_room(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    top = tree.mount(2)
    tree.process("self", "0::/a")
    limit_v2(top / "a", str(GIB), 2 * GIB)
    assert cgroups.available_memory_bytes(tree.proc) == 0


def test_where_linux_does_not_tell_psutil_does(tmp_path: Path) -> None:
    available = cgroups.available_memory_bytes(tmp_path)
    assert 0 < available <= psutil.virtual_memory().total


def test_on_this_machine_no_more_is_available_than_there_is() -> None:
    assert 0 < cgroups.available_memory_bytes() <= psutil.virtual_memory().total


def test_a_real_limit_is_found() -> None:
    own = next((each for each in cgroups.folders("memory")), None)
    if own is None or not os.access(own, os.W_OK):
        pytest.skip("no control group for memory may be made here")
    group = own / f"instride-test-{os.getpid()}"
    group.mkdir()
    try:
        name = (
            "memory.limit_in_bytes" if (group / "memory.limit_in_bytes").exists() else "memory.max"
        )
        if not (group / name).exists():
            pytest.skip("memory is not controlled below this group")
        (group / name).write_text(str(GIB))
        found = _room_of_a_child_in(group)
    finally:
        group.rmdir()
    assert GIB // 2 < found <= GIB


def _room_of_a_child_in(group: Path) -> int:
    """What a process sees that was put there."""
    code = (
        "import os, pathlib, sys; from instride.system import cgroups;"
        "pathlib.Path(sys.argv[1], 'cgroup.procs').write_text(str(os.getpid()));"
        "print(cgroups.available_memory_bytes())"
    )
    command = [sys.executable, "-c", code, str(group)]
    return int(subprocess.run(command, check=True, capture_output=True).stdout)
