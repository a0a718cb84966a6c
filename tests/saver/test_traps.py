"""What others fell into: too little shared memory, clocks that jump, memory that is freed."""

from __future__ import annotations

import os
import time
from pathlib import Path

import psutil
import pytest
import torch

import instride
from instride.store.directory import newest_first
from instride.store.manifest import read_manifest
from tests.crash.trainings import Weights, engine_of, writer_of
from tests.saver.test_journal import lines_of

pytestmark = pytest.mark.torch
SHM = Path("/dev/shm")


def files_of(pid: int) -> list[str]:
    """What a process has open or mapped."""
    maps = Path(f"/proc/{pid}/maps").read_text().splitlines()
    opened = []
    for each in Path(f"/proc/{pid}/fd").iterdir():
        try:
            opened.append(str(each.readlink()))
        except OSError:
            continue  # closed meanwhile
    return [line.partition("/")[2] for line in maps] + opened


def test_nothing_of_a_snapshot_is_in_the_shared_memory_of_a_container(tmp_path: Path) -> None:
    before = set(SHM.iterdir()) if SHM.is_dir() else set()
    weights = Weights()
    with instride.Saver(tmp_path, weights=weights) as saver:
        saver.save(1).wait(60)
        pids = [os.getpid(), writer_of(saver)]
        seen = [name for pid in pids for name in files_of(pid)]
        ours = {each for each in set(SHM.iterdir()) - before if "instride" in each.name}

    assert any("memfd:instride-arena" in name for name in seen)
    assert [name for name in seen if "dev/shm" in name and "instride" in name] == []
    assert ours == set()


def test_memory_is_reused_from_one_save_to_the_next(tmp_path: Path) -> None:
    """Memory that is freed and asked for again slows down whoever else asks for some."""
    weights = Weights()
    with instride.Saver(tmp_path, keep=instride.Keep(last=1), weights=weights) as saver:
        saver.save(0).wait(60)
        arena = engine_of(saver)._stager.arena
        writer = psutil.Process(writer_of(saver))
        address, num_descriptors = arena.memory.data_ptr(), psutil.Process().num_fds()
        of_writer = writer.num_fds()
        for step in range(1, 6):
            saver.save(step).wait(60)

            assert arena.memory.data_ptr() == address
            assert psutil.Process().num_fds() == num_descriptors
            assert writer_of(saver) == writer.pid
        assert writer.num_fds() <= of_writer + 2  # the file that is being read back


@pytest.mark.parametrize("jump_s", [-1e8, 1e8])
def test_a_clock_that_jumps_between_two_saves_changes_nothing(
    jump_s: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = Weights(1000)
    with instride.Saver(tmp_path, keep=instride.Keep(last=2), weights=weights) as saver:
        for step in (1, 2, 3):
            weights.become(step)
            saved = saver.save(step).wait(60)
            now_s = time.time()
            monkeypatch.setattr(time, "time", lambda at_s=now_s + jump_s: at_s)
            took = saved.timings
            assert 0 <= took.call_s <= took.staged_s <= took.durable_s < 60

        assert saver.restore() == 4
    assert [checkpoint.step for checkpoint in newest_first(tmp_path)] == [3, 2]
    manifests = [read_manifest(tmp_path / f"step_0000000{step}.pt") for step in (2, 3)]
    created = [manifest.created_s for manifest in manifests if manifest]
    assert abs(created[1] - created[0]) > 1e7  # the clock did jump


def test_every_so_many_minutes_is_by_a_clock_that_nobody_sets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with instride.Saver(tmp_path, weights=Weights(10)) as saver:
        monkeypatch.setattr(time, "time", lambda: 4e9)
        assert not saver.due(1, every="10min")
        later_s = time.monotonic() + 601
        monkeypatch.setattr(time, "monotonic", lambda: later_s)
        assert saver.due(2, every="10min")
        saver.save(2)
        assert not saver.due(3, every="10min")


def test_the_journal_tells_whether_writes_went_past_the_page_cache(tmp_path: Path) -> None:
    with instride.Saver(tmp_path, model=torch.nn.Linear(2, 2)) as saver:
        saver.save(1).wait(60)

    (durable,) = [line for line in lines_of(tmp_path) if line["kind"] == "durable"]
    assert durable["direct"] is _can_write_directly(tmp_path)


def _can_write_directly(folder: Path) -> bool:
    try:
        os.close(os.open(folder / "probe", os.O_WRONLY | os.O_CREAT | os.O_DIRECT, 0o600))
    except OSError:
        return False
    return True
