"""`instride.save` as it stands in for `torch.save`: links, permissions, and nothing left behind."""

from __future__ import annotations

import os
import re
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

import instride
import instride.faults
from instride.errors import SaveFailedError
from instride.faults import ONCE, VARIABLE
from instride.saver.functions import save
from instride.store.unowned import NAME, sweep_dead, temporary_of_ours

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore:instride:RuntimeWarning")]


@pytest.fixture
def new_writer(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The test gets a writer of its own, with the environment of the moment."""
    monkeypatch.setitem(save.__globals__, "_engine", None)
    yield
    engine = save.__globals__["_engine"]
    if engine is not None:
        engine.close()


def saved(path: Path) -> float:
    return float(torch.load(path)["a"][0])


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if not path.is_dir())


def of_the_dead(folder: Path) -> Path:
    """What a process leaves that is killed while it saves."""
    ended = subprocess.Popen(["true"])
    ended.wait()
    ours = temporary_of_ours(folder).name
    return folder / re.sub(r"-\d+-\d+\.tmp", f"-{ended.pid}-1.tmp", ours)


def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    real = tmp_path / "elsewhere" / "real.pt"
    real.write_bytes(b"old")
    (tmp_path / "link.pt").symlink_to("elsewhere/real.pt")

    instride.save({"a": torch.ones(1)}, tmp_path / "link.pt").wait(60)

    assert (tmp_path / "link.pt").readlink() == Path("elsewhere/real.pt")
    assert saved(real) == 1.0
    assert not real.is_symlink()


def test_a_link_to_nowhere_gets_its_file(tmp_path: Path) -> None:
    (tmp_path / "link.pt").symlink_to("new.pt")

    instride.save({"a": torch.ones(1)}, tmp_path / "link.pt").wait(60)

    assert (tmp_path / "link.pt").is_symlink()
    assert saved(tmp_path / "new.pt") == 1.0


@pytest.mark.parametrize("kind", ["a pipe", "a directory", "a device", "a link to a pipe"])
def test_what_is_no_file_is_not_replaced_by_one(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    if kind == "a directory":
        path.mkdir()
    elif kind == "a device":
        try:
            os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
        except PermissionError:
            pytest.skip("only root may make devices")
    elif kind == "a pipe":
        os.mkfifo(path)
    else:
        os.mkfifo(tmp_path / "pipe")
        path.symlink_to("pipe")
    before = path.lstat()

    with pytest.raises(SaveFailedError, match=r"no ordinary file|it is a directory"):
        instride.save({"a": torch.ones(1)}, path).wait(60)

    assert os.path.samestat(path.lstat(), before)
    assert not list(tmp_path.glob(".instride.*"))


def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    path.write_bytes(b"old")
    path.chmod(0o600)

    instride.save({"a": torch.ones(1)}, path).wait(60)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert saved(path) == 1.0


@pytest.mark.usefixtures("new_writer")
@pytest.mark.parametrize("mask", [0o002, 0o077])
def test_a_new_file_has_the_permissions_that_any_new_file_gets(mask: int, tmp_path: Path) -> None:
    before = os.umask(mask)
    try:
        instride.save({"a": torch.ones(1)}, tmp_path / "x.pt").wait(60)
    finally:
        os.umask(before)

    assert stat.S_IMODE((tmp_path / "x.pt").stat().st_mode) == 0o666 & ~mask


@pytest.mark.usefixtures("new_writer")
@pytest.mark.parametrize("phase", ["opened", "write", "synced", "manifest"])
def test_what_a_killed_writer_left_is_swept_by_the_next_one(
    phase: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, f"kill@{phase}")
    monkeypatch.setenv(ONCE, str(tmp_path / "once"))
    folder = tmp_path / "folder"

    instride.save({"a": torch.ones(1)}, folder / "x.pt").wait(60)

    assert (tmp_path / "once").exists()
    assert saved(folder / "x.pt") == 1.0
    assert [name for name in names_in(folder) if not name.endswith(".json")] == ["x.pt"]
    assert len(names_in(folder)) == 2


@pytest.mark.usefixtures("new_writer")
def test_only_what_the_dead_left_is_swept(tmp_path: Path) -> None:
    manifests = tmp_path / ".instride" / "manifests"
    manifests.mkdir(parents=True)
    dead = [of_the_dead(tmp_path), of_the_dead(manifests)]
    place = NAME.fullmatch(dead[0].name)
    assert place is not None
    others = [
        temporary_of_ours(tmp_path),
        temporary_of_ours(manifests),
        tmp_path / dead[0].name.replace(place[1], "0123456789abcdef"),
        tmp_path / f"{dead[0].name}.bak",
        tmp_path / ".step_00000001.pt.0123abcd.tmp",
        tmp_path / ".instride.notes.tmp",
    ]
    for path in [*dead, *others]:
        path.write_bytes(b"")

    instride.save({"a": torch.ones(1)}, tmp_path / "x.pt").wait(60)

    assert [path.name for path in dead if path.exists()] == []
    assert [path.name for path in others if not path.exists()] == []


def test_what_is_of_another_user_is_not_swept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = of_the_dead(tmp_path)
    left.write_bytes(b"")
    monkeypatch.setattr(os, "getuid", lambda: left.stat().st_uid + 1)

    assert sweep_dead(tmp_path) == []
    assert left.exists()


def test_a_folder_that_is_not_there_has_nothing_to_sweep(tmp_path: Path) -> None:
    assert sweep_dead(tmp_path / "nowhere") == []


def test_a_checkpoint_of_a_store_that_somebody_owns_is_not_replaced(tmp_path: Path) -> None:
    with instride.Saver(tmp_path, model=torch.nn.Linear(2, 2)) as saver:
        committed = saver.save(1).wait(60).path
        before = committed.read_bytes()
        with pytest.raises(SaveFailedError, match=f"training with pid {os.getpid()}"):
            instride.save({"a": torch.ones(1)}, committed).wait(60)
        instride.save({"a": torch.ones(1)}, tmp_path / "export.pt").wait(60)
        assert committed.read_bytes() == before
    instride.save({"a": torch.ones(1)}, committed).wait(60)
    assert saved(committed) == 1.0
