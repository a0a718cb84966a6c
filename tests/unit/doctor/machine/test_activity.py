"""What real processes do within a moment."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import psutil
import pytest

from instride.doctor.machine import activity
from instride.doctor.machine.activity import Activity, take_sample
from instride.doctor.machine.programs import Trade
from tests.unit.doctor.machine.busy import asleep, busy

on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux shows files")


@pytest.fixture(autouse=True)
def _any_turn_is_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside others that are busy, a process gets little of a processor, or no turn for a while."""
    monkeypatch.setattr(activity, "BUSY_CORES", 1e-3)


def sampled(pid: int, *folders: Path) -> Activity:
    looks = (take_sample(folders).processes for _ in range(20))
    return next(each for look in looks for each in look if each.pid == pid)


def test_a_busy_process_is_seen_with_what_it_runs(tmp_path: Path) -> None:
    with busy(tmp_path / "compress_all.py", nice=7) as pid:
        found = sampled(pid)
    assert found.cores > 0
    assert found.trade is Trade.COMPRESSOR
    assert found.title.endswith(f"({pid})")
    assert found.age_s < 60
    if sys.platform != "win32":
        assert found.nice == 7


def test_this_process_is_not_its_own_rival() -> None:
    sample = take_sample([])
    assert os.getpid() not in {each.pid for each in sample.processes}
    assert sample.seconds >= 0.5


@on_linux
def test_a_checkpoint_that_is_read_is_seen(tmp_path: Path) -> None:
    checkpoint = tmp_path / "out" / "step_5.pt"
    checkpoint.parent.mkdir()
    checkpoint.write_bytes(bytes(10))
    with busy(tmp_path / "daemon.py", opened=str(checkpoint)) as pid:
        inside, outside = sampled(pid, tmp_path / "out"), sampled(pid, tmp_path / "else")
    assert inside.open_checkpoints == (str(checkpoint),)
    assert outside.open_checkpoints == ()


@on_linux
def test_a_checkpoint_that_is_written_is_the_training_s_own_affair(tmp_path: Path) -> None:
    checkpoint = tmp_path / "step_5.pt"
    with busy(tmp_path / "train.py", opened=str(checkpoint), mode="wb") as pid:
        assert sampled(pid, tmp_path).open_checkpoints == ()


@on_linux
def test_a_hidden_process_counts_only_if_it_does_something(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hidden: set[int] = set()

    def seen_bytes(process: psutil.Process) -> int | None:
        return None if process.pid in hidden else 0

    monkeypatch.setattr(activity, "_io_bytes", seen_bytes)
    with busy(tmp_path / "work.py") as working, asleep() as sleeping:
        hidden |= {sleeping}
        assert take_sample([]).num_hidden == 0
        hidden |= {working}
        assert take_sample([]).num_hidden == 1
