"""Measuring how fast a directory takes data, on real filesystems."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from instride.doctor.machine.disk_rules import check_speed
from instride.doctor.machine.probing import MOST_BYTES, Probed, probe
from instride.doctor.model import Bytes, Certainty, Factor, Seconds, Speed
from instride.reasons import Reason
from tests.unit.doctor.machine.making import GB, a_checkpoint, a_landing
from tests.unit.doctor.saying import said


def test_a_directory_is_measured_and_left_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "step_1.pt").write_text("mine")
    [probed] = probe([tmp_path], 0.2)
    assert probed.error is None
    assert probed.synced_bytes_per_s is not None
    assert probed.synced_bytes_per_s > 0
    assert [path.name for path in tmp_path.iterdir()] == ["step_1.pt"]


def test_several_directories_are_measured_in_one_go(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
    probed = probe([tmp_path / "a", tmp_path / "b"], 0.2)
    assert all(each.synced_bytes_per_s for each in probed)


def test_a_full_disk_is_an_error_and_nothing_stays(small_mount: Path) -> None:
    (small_mount / "data").write_bytes(bytes(3_900_000))
    [probed] = probe([small_mount], 0.2)
    assert probed.error == Reason("os.ENOSPC")
    assert [path.name for path in small_mount.iterdir()] == ["data"]


def test_a_missing_directory_is_an_error(tmp_path: Path) -> None:
    [probed] = probe([tmp_path / "none"], 0.2)
    assert probed == Probed(None, None, Reason("os.ENOENT"))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_nothing_stays_when_the_process_is_killed_in_the_middle(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys, pathlib; from instride.doctor.machine import probing;"
        "os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL);"
        "probing.probe([pathlib.Path(sys.argv[1])], 1.0)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert done.returncode == -9
    assert list(tmp_path.iterdir()) == []


def test_no_more_is_written_than_is_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However much time there is."""
    written = [0]
    plain = os.write

    def counting(descriptor: int, data: memoryview) -> int:
        num = plain(descriptor, data)
        written[0] += num
        return num

    monkeypatch.setattr(os, "write", counting)
    monkeypatch.setattr("instride.doctor.machine.probing.MOST_S", 1e6)
    probe([tmp_path], 1e6)
    assert 0 < written[0] <= 2 * MOST_BYTES


def test_a_much_faster_disk_is_named_with_what_a_save_takes() -> None:
    landing = a_landing(largest=a_checkpoint(10 * GB))
    other = a_landing(path=Path("/fast"), folder=Path("/fast"))
    [finding] = check_speed(landing, Probed(100e6, None), (other, Probed(1e9, 2e9)))
    assert finding.rule == "faster-disk-nearby"
    assert finding.certainty is Certainty.SURE
    assert finding.facts["times"] == Factor(10.0)
    assert finding.facts["seconds"] == Seconds(100.0)
    assert finding.facts["other_seconds"] == Seconds(10.0)
    assert "/fast" in said(finding)["en"]


def test_what_is_not_so_much_faster_is_likely_only() -> None:
    [finding] = check_speed(a_landing(), Probed(100e6, None), (a_landing(), Probed(300e6, None)))
    assert (finding.rule, finding.certainty) == ("faster-disk-nearby", Certainty.LIKELY)


def test_a_disk_that_is_fast_enough_is_left_alone() -> None:
    other = (a_landing(), Probed(9e9, None))
    assert list(check_speed(a_landing(), Probed(1.2e9, None), other)) == []


def test_a_disk_that_is_somewhat_faster_is_not_worth_a_word() -> None:
    other = (a_landing(), Probed(800e6, None))
    assert list(check_speed(a_landing(), Probed(400e6, None), other)) == []


def test_a_slow_disk_is_slow_without_another_one_too() -> None:
    [finding] = check_speed(a_landing(), Probed(50e6, None), None)
    assert finding.rule == "slow-checkpoint-disk"
    assert finding.facts["speed"] == Speed(50e6)
    assert finding.facts["size"] == Bytes(10 * GB)
    assert said(finding)


def test_without_an_answer_nothing_is_said_of_the_speed() -> None:
    assert list(check_speed(a_landing(), Probed(None, None), None)) == []
