"""Memory: readings of made-up and real systems, and the rules on them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from instride.doctor.machine.memory import (
    DirtyLimits,
    Swap,
    Swapped,
    read_dirty_limits,
    read_shm_bytes,
    read_swap,
    read_swapped,
)
from instride.doctor.machine.memory_rules import (
    check_dirty_limits,
    check_shm,
    check_snapshot,
    check_swap,
    check_swapping,
)
from instride.doctor.model import Bytes, Certainty, Reading, Seconds, Share, Speed
from instride.system.cgroups import MemoryLevel
from instride.system.psi import Pressure, Stall
from tests.unit.doctor.machine.making import GB, a_checkpoint, a_landing
from tests.unit.doctor.saying import said
from tests.unit.system.trees import write

NOTHING = Swapped(0, 0)
on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux counts this")


def pressed(share: float) -> Pressure:
    return Pressure(Stall(share, share, share, 1.0), None)


def test_swap_on_disks_counts_and_in_memory_does_not(tmp_path: Path) -> None:
    lines = (
        "Filename Type Size Used Priority",
        "/dev/sda2 partition 2000000 1500000 -2",
        "/dev/zram0 partition 8000000 4000000 100",
        r"/my\040swap file 1000000 0 -3",
    )
    write(tmp_path / "swaps", "\n".join(lines))
    assert read_swap(tmp_path) == Swap(3_000_000 * 1024, 1_500_000 * 1024)


def test_a_system_that_does_not_count_swapped_pages_is_unknown(tmp_path: Path) -> None:
    assert read_swapped(tmp_path) is None
    write(tmp_path / "vmstat", "nr_free_pages 5\npswpin 2\npswpout 1\n")
    found = read_swapped(tmp_path)
    assert found is not None
    assert found.in_bytes == 2 * found.out_bytes > 0


@on_linux
def test_this_machine_counts_swapped_pages() -> None:
    assert read_swapped() is not None
    assert read_swap().used_bytes <= read_swap().total_bytes


@pytest.mark.parametrize(
    ("fixed", "percent", "limit"), [("0", "20", 20 * GB), ("1000", "20", 1000), ("0", "5", 5 * GB)]
)
def test_the_limit_of_dirty_pages_is_fixed_or_a_part(
    tmp_path: Path, fixed: str, percent: str, limit: int
) -> None:
    write(tmp_path / "sys/vm/dirty_bytes", fixed)
    write(tmp_path / "sys/vm/dirty_ratio", percent)
    found = read_dirty_limits(100 * GB, tmp_path)
    assert found is not None
    assert found.limit_bytes == limit


def test_without_the_settings_there_is_no_limit_to_tell(tmp_path: Path) -> None:
    assert read_dirty_limits(GB, tmp_path) is None


def test_real_small_shared_memory_is_told(small_mount: Path) -> None:
    shm_bytes = read_shm_bytes(small_mount)
    assert shm_bytes == 4 << 20
    [finding] = check_shm(shm_bytes, is_container=True)
    assert finding.facts == {"size": Bytes(4 << 20)}
    assert finding.fixes[0].text == "docker run --shm-size=8g"
    assert said(finding)


def test_shared_memory_that_is_no_filesystem_of_its_own_is_not_judged(tmp_path: Path) -> None:
    assert read_shm_bytes(tmp_path) is None
    assert list(check_shm(8 * GB, is_container=False)) == []


def test_a_snapshot_that_the_machine_cannot_hold_is_told() -> None:
    landings = [a_landing(largest=a_checkpoint(20 * GB)), a_landing()]
    [finding] = check_snapshot(landings, 10 * GB, [])
    assert finding.facts == {"size": Bytes(20 * GB), "available": Bytes(10 * GB)}
    assert finding.evidence == (Reading("MemAvailable", "10 GB"),)
    assert said(finding)


def test_a_snapshot_that_a_control_group_cannot_hold_names_its_limit() -> None:
    level = MemoryLevel("/sys/fs/cgroup/pod/memory.max", 16 * GB, 12 * GB, 2 * GB)
    roomy = MemoryLevel("/sys/fs/cgroup/memory.max", 99 * GB, 0, 0)
    [finding] = check_snapshot([a_landing(largest=a_checkpoint(7 * GB))], 90 * GB, [roomy, level])
    assert finding.facts["available"] == Bytes(6 * GB)
    assert finding.evidence == (Reading(level.limit_file, "16 GB, 10 GB in use"),)


def test_a_snapshot_that_fits_or_is_unknown_is_left_alone() -> None:
    assert list(check_snapshot([a_landing(largest=a_checkpoint(GB))], 2 * GB, [])) == []
    assert list(check_snapshot([a_landing()], 0, [])) == []


def test_pages_that_come_in_are_swapping() -> None:
    [finding] = check_swapping(NOTHING, Swapped(3_000_000, 2_000_000), 0.5, pressed(0.2))
    assert finding.rule == "swapping-now"
    assert finding.facts == {"speed": Speed(1e7)}
    assert [each for each in finding.evidence if isinstance(each, Reading)][1].counter == (
        "/proc/pressure/memory"
    )
    assert said(finding)


def test_pages_that_only_go_out_are_no_swapping() -> None:
    assert list(check_swapping(NOTHING, Swapped(0, 9_000_000), 0.5, None)) == []


def test_tasks_that_wait_without_swap_are_told() -> None:
    [finding] = check_swapping(NOTHING, NOTHING, 0.5, pressed(0.08))
    assert (finding.rule, finding.facts) == ("memory-short", {"share": Share(0.08)})
    assert said(finding)
    assert list(check_swapping(NOTHING, NOTHING, 0.5, pressed(0.04))) == []


@pytest.mark.parametrize(
    ("used", "total", "told"), [(3, 4, True), (1, 4, False), (0.5, 0.6, False)]
)
def test_much_swap_in_use_is_worth_a_look(used: float, total: float, told: bool) -> None:
    findings = list(check_swap(Swap(int(total * GB), int(used * GB))))
    assert len(findings) == told
    assert all(each.certainty is Certainty.PERHAPS and said(each) for each in findings)


def test_dirty_pages_that_take_long_to_write_are_told() -> None:
    limits = DirtyLimits(40 * GB, "vm.dirty_ratio = 20")
    [finding] = check_dirty_limits(limits, Path("/data/out"), 500e6)
    assert finding.facts["seconds"] == Seconds(80.0)
    assert said(finding)
    assert list(check_dirty_limits(limits, Path("/data/out"), 2e9)) == []
