"""Priorities that do nothing, with real processes where the kernel has autogroups."""

from __future__ import annotations

import os
from pathlib import Path

import psutil
import pytest
from msgspec.structs import replace

from instride.doctor.machine.activity import take_sample
from instride.doctor.machine.priorities import check_io_priorities, check_priorities
from instride.doctor.machine.programs import Trade
from instride.doctor.model import Finding
from instride.system import autogroup
from instride.system.scheduling import position_of
from tests.unit.doctor.machine.busy import busy
from tests.unit.doctor.machine.making import a_landing, a_process, a_sample
from tests.unit.doctor.saying import said
from tests.unit.system.trees import Tree, write

TRAINER = 10
PACKER = 20


@pytest.fixture
def autogroups_count() -> None:
    if not psutil.LINUX or position_of(os.getpid()).autogroup is None:
        pytest.skip("autogroups do not count here")


def naming(pid: int) -> list[Finding]:
    """Findings of one process, beside which nobody trains: other tests may, in their sessions."""
    sample = take_sample([])
    alone = tuple(each for each in sample.processes if each.pid == pid)
    return list(check_priorities(replace(sample, processes=alone)))


@pytest.mark.usefixtures("autogroups_count")
def test_a_real_niced_process_in_another_session_is_found(tmp_path: Path) -> None:
    with busy(tmp_path / "compress.py", nice=19, new_session=True) as pid:
        [finding] = naming(pid)
        assert finding.facts["priority"] == "nice 19"
        assert finding.fixes[0].text == f"echo 19 > /proc/{pid}/autogroup"
        assert said(finding)
        os.system(finding.fixes[0].text)
        assert naming(pid) == []
        group = autogroup.of(pid)
    assert group is not None
    assert group.nice == 19


@pytest.mark.usefixtures("autogroups_count")
def test_a_real_idle_process_in_another_session_is_found(tmp_path: Path) -> None:
    with busy(tmp_path / "compress.py", new_session=True) as pid:
        os.sched_setscheduler(pid, os.SCHED_IDLE, os.sched_param(0))
        [finding] = naming(pid)
    assert finding.facts["priority"] == "SCHED_IDLE"


@pytest.mark.usefixtures("autogroups_count")
def test_a_real_niced_process_of_this_session_does_yield(tmp_path: Path) -> None:
    with busy(tmp_path / "compress.py", nice=19) as pid:
        assert naming(pid) == []


@pytest.mark.usefixtures("autogroups_count")
def test_a_real_process_that_is_not_meant_to_yield_is_left_alone(tmp_path: Path) -> None:
    with busy(tmp_path / "compress.py", new_session=True) as pid:
        assert naming(pid) == []


def test_the_training_that_runs_is_what_others_are_compared_with(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    top = tree.mount(2)
    for name, pid in (("train", TRAINER), ("pack", PACKER)):
        write(top / name / "cpu.weight", "100\n")
        tree.process(pid, f"0::/{name}")
    sample = a_sample(
        a_process(pid=TRAINER, trade=Trade.TRAINER, cores=1.0),
        a_process(pid=PACKER, name="zstd", nice=10),
    )
    [finding] = check_priorities(sample, tree.proc)
    assert finding.facts == {"names": f"zstd ({PACKER})", "priority": "nice 10"}
    assert "cpu.weight" in finding.fixes[0].text
    write(top / "pack/cpu.weight", "10\n")
    assert list(check_priorities(sample, tree.proc)) == []


def test_a_niced_process_that_does_nothing_is_left_alone(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    top = tree.mount(2)
    write(top / "pack/cpu.weight", "100\n")
    tree.process(PACKER, "0::/pack")
    resting = a_process(pid=PACKER, nice=19, cores=0.0)
    assert list(check_priorities(a_sample(resting), tree.proc)) == []


def a_disk(sys: Path, scheduler: str) -> None:
    write(sys / "devices/sdb/queue/scheduler", f"{scheduler}\n")
    (sys / "dev/block").mkdir(parents=True)
    (sys / "dev/block/8:17").symlink_to(sys / "devices/sdb")


def test_an_idle_disk_priority_under_no_scheduler_is_told(tmp_path: Path) -> None:
    a_disk(tmp_path, "[none] mq-deadline")
    process = a_process(name="rsync", io_class=3, io_bytes_per_s=9e6)
    [finding] = check_io_priorities(a_sample(process), [a_landing()], tmp_path)
    assert finding.facts["scheduler"] == "none"
    assert "mq-deadline" in finding.fixes[0].text
    assert "/sys/block/sdb/queue/scheduler" in finding.fixes[0].text
    assert said(finding)


def test_a_scheduler_that_knows_priorities_is_left_alone(tmp_path: Path) -> None:
    a_disk(tmp_path, "none [bfq]")
    process = a_process(io_class=3, io_bytes_per_s=9e6)
    assert list(check_io_priorities(a_sample(process), [a_landing()], tmp_path)) == []


@pytest.mark.parametrize(("io_class", "speed"), [(3, 0.0), (0, 9e6), (None, 9e6), (3, None)])
def test_processes_without_an_idle_class_or_traffic_are_left_alone(
    tmp_path: Path, io_class: int | None, speed: float | None
) -> None:
    a_disk(tmp_path, "[none]")
    process = a_process(io_class=io_class, io_bytes_per_s=speed)
    assert list(check_io_priorities(a_sample(process), [a_landing()], tmp_path)) == []
