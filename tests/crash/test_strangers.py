"""What is not ours stays as it is, whatever its name: not restored, not deleted, not replaced."""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

import instride
from instride.errors import NoCheckpointError, SaveFailedError
from instride.store.directory import newest_first
from instride.store.retention import Keep
from instride.writer.committing import Commits
from instride.writer.hands import Crew
from instride.writer.page import SharedPage
from instride.writer.protocol import Begin, Finish
from instride.writer.writing import Job
from tests.crash.checks import assert_sound, path_of, steps_in
from tests.crash.trainings import Weights, save

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore:instride:RuntimeWarning")]

FOREIGN = (
    "step_00000007.pt", "step_7.pt", "step_00000001.pt.bak", "old_step_00000001.pt",
    "step_00000001.ptx", "notes.txt", ".notes.txt.0123abcd.tmp", ".best.pt.0123abcd.tmp",
    ".instride/manifests/best.pt.0123456789abcdef.json",
    ".instride/manifests/.best.pt.0123456789abcdef.json.0123abcd.tmp",
)  # fmt: skip


def test_what_is_not_ours_is_neither_restored_nor_deleted(store: Path) -> None:
    for name in FOREIGN:
        (store / name).write_bytes(b"somebody else's")
    torch.save({"weights": {}}, store / "step_00000008.pt")
    (store / "step_00000005.pt").mkdir()
    os.mkfifo(store / "step_00000006.pt")
    (store / "step_00000004.pt").symlink_to("nowhere")

    weights = Weights()
    with instride.Saver(store, keep=instride.Keep(last=1), weights=weights) as saver:
        assert saver.restore() == 3
        save(saver, weights, 9).wait(60)

    assert [(store / name).read_bytes() for name in FOREIGN] == [b"somebody else's"] * len(FOREIGN)
    assert torch.load(store / "step_00000008.pt", weights_only=True) == {"weights": {}}
    assert (store / "step_00000005.pt").is_dir()
    assert (store / "step_00000006.pt").is_fifo()
    assert (store / "step_00000004.pt").is_symlink()
    assert [checkpoint.step for checkpoint in newest_first(store)] == [9]


@pytest.mark.parametrize("kind", ["a file", "a directory", "a link", "a link to nowhere"])
def test_a_file_of_somebody_else_is_not_replaced_by_a_checkpoint_of_its_name(
    kind: str, store: Path
) -> None:
    taken = store / "step_00000003.pt"
    (store / "theirs").write_bytes(b"somebody else's")
    if kind == "a file":
        taken.write_bytes(b"somebody else's")
    elif kind == "a directory":
        taken.mkdir()
    else:
        taken.symlink_to("theirs" if kind == "a link" else "nowhere")
    before = taken.lstat()

    weights = Weights()
    with instride.Saver(store, keep=instride.Keep(last=1), weights=weights) as saver:
        with pytest.raises(SaveFailedError, match="did not write") as failed:
            save(saver, weights, 3).wait(60)
        assert failed.value.hint.endswith(f"`mv -n {taken} {taken}.other`")
        assert steps_in(store)[:2] == [1, 2]
        save(saver, weights, 4).wait(60)

    assert os.path.samestat(taken.lstat(), before)
    assert (store / "theirs").read_bytes() == b"somebody else's"
    assert [checkpoint.step for checkpoint in newest_first(store)] == [4]
    assert not list((store / ".instride" / "manifests").glob("step_00000003*"))
    assert not list(store.glob(".*.tmp"))


def test_a_file_that_gets_the_name_while_a_checkpoint_is_written_is_not_replaced(
    store: Path,
) -> None:
    path = path_of(store, 3)
    job = Job(Begin(1, str(path), [], 0, 0, False))
    rest = Finish(1, {"data.pkl": b"N."}, 3, None, [], {}, 0.0, 0.0, 0.0, 0.0, 0.0)
    commits = Commits(store, Keep(), SharedPage.create(), Crew())
    with ThreadPoolExecutor(1) as pool:
        outcome = pool.submit(commits.commit, job, memoryview(b""))
        while not outcome.done() and not list(store.glob(".step_00000003.pt.*.tmp")):
            pass
        path.write_bytes(b"somebody else's")
        job.settle(rest)
        with pytest.raises(FileExistsError, match="did not write"):
            outcome.result()

    assert path.read_bytes() == b"somebody else's"
    assert not list(store.glob(".*.tmp"))


@pytest.mark.parametrize("kind", ["a file", "a directory"])
def test_somebody_elses_latest_stays_as_it_is_and_saves_work(kind: str, store: Path) -> None:
    (store / "latest").unlink()
    if kind == "a file":
        (store / "latest").write_text("mine")
    else:
        (store / "latest").mkdir()

    weights = Weights()
    with instride.Saver(store, weights=weights) as saver:
        save(saver, weights, 3).wait(60)

    assert (store / "latest").is_dir() if kind == "a directory" else (store / "latest").is_file()
    assert not (store / "latest").is_symlink()
    assert assert_sound(store) == 3


def test_in_a_copy_without_links_latest_leads_to_the_newest_again(
    store: Path, tmp_path: Path
) -> None:
    """As `cp -L` makes one, and any filesystem that knows no links."""
    copy = tmp_path / "copy"
    shutil.copytree(store, copy)
    assert not (copy / "latest").is_symlink()

    weights = Weights()
    with instride.Saver(copy, weights=weights) as saver:
        save(saver, weights, 3).wait(60)

    assert (copy / "latest").readlink() == Path("step_00000003.pt")
    assert assert_sound(copy) == 3


def test_a_directory_of_foreign_files_is_a_store_without_checkpoints(tmp_path: Path) -> None:
    (tmp_path / "step_00000007.pt").write_bytes(b"somebody else's")

    weights = Weights()
    with instride.Saver(tmp_path, keep=instride.Keep(last=1), weights=weights) as saver:
        assert saver.restore() == 0
        save(saver, weights, 1).wait(60)
        save(saver, weights, 2).wait(60)

    assert (tmp_path / "step_00000007.pt").read_bytes() == b"somebody else's"
    assert steps_in(tmp_path) == [2, 7]


def test_a_copy_without_its_manifests_is_told_of_when_nothing_is_restored(
    store: Path, tmp_path: Path
) -> None:
    """Or a training would begin anew beside its checkpoints, without a word."""
    copy = tmp_path / "copy"
    copy.mkdir()
    for path in store.glob("step_*.pt"):
        shutil.copy(path, copy)
    weights = Weights()
    with instride.Saver(copy, weights=weights) as saver:
        with pytest.warns(RuntimeWarning, match=r"step_00000002.pt` is not restored") as told:
            assert saver.restore() == 0
        assert "instride.load" in str(told[0].message)
        assert "training begins at step 0" in str(told[0].message)
        assert instride.load(copy / "step_00000002.pt")["step"] == 2
        with pytest.raises(NoCheckpointError, match="of step 1"):
            saver.restore(step=1)
    shutil.copytree(store / ".instride", copy / ".instride", dirs_exist_ok=True)
    with instride.Saver(copy, weights=weights) as saver:
        assert saver.restore() == 3
