"""What is deleted is in the journal, and is no sign of others who need the disk: each time."""

from __future__ import annotations

import errno
import threading
from pathlib import Path
from queue import SimpleQueue

import pytest

import instride.faults
from instride.faults import ONCE, VARIABLE
from instride.store.directory import committed_in
from instride.store.retention import Keep
from instride.writer.committing import Commits, Outcome
from instride.writer.deleting import Deleting
from instride.writer.packs import Packs
from instride.writer.page import SharedPage
from instride.writer.protocol import Notice
from instride.writer.room import Room
from instride.writer.swapping import Draft
from instride.writer.tidying import Tidying
from instride.writer.writing import Job
from tests.unit.pack.packs import weights
from tests.unit.store.committing import commit
from tests.unit.writer.packers import Results
from tests.unit.writer.works import Heard, NotedCrew, staged


class Stage:
    def __init__(self, store: Path, keep: Keep) -> None:
        self.told, self.crew = Heard(), NotedCrew()
        page = SharedPage.create()
        self.commits = Commits(store, keep, page, self.crew)
        self.results: Results = SimpleQueue()
        self.packs = Packs(store, keep, page, self.crew, self.told, None, self.results.put)
        self.deleting = Deleting(store, self.crew, self.told)
        self.tidying = Tidying(self.commits, self.told, self.deleting)


def outcome(path: Path) -> Outcome:
    return Outcome(path, 1, 0.0, 0.0, False)


def steps_in(store: Path) -> list[int]:
    return [checkpoint.step for checkpoint in committed_in(store)]


def test_what_retention_deletes_is_told_and_looked_past(tmp_path: Path) -> None:
    stage = Stage(tmp_path, Keep(last=1))
    paths = [commit(tmp_path, step, b"data") for step in (1, 2, 3)]
    stage.tidying.after(outcome(paths[-1]))
    names = ["step_00000001.pt", "step_00000002.pt"]
    assert [kind for kind, _ in stage.told.notes] == ["verified", "deleted"]
    assert stage.told.all_of("deleted") == [{"names": names}]
    assert stage.crew.num_looked_anew == 1


def test_a_file_that_is_called_as_the_link_to_the_newest_is_told_of_once(tmp_path: Path) -> None:
    stage = Stage(tmp_path, Keep())
    for step in (1, 2):
        path = commit(tmp_path, step, b"data %d" % step)
        (tmp_path / "latest").unlink()
        (tmp_path / "latest").write_bytes(b"somebody's")
        stage.tidying.after(outcome(path))

    told = stage.told.hear(Notice)
    assert told.id == "latest"
    assert f"`{tmp_path}/latest` is a file and no link" in told.text
    assert f"mv -n {tmp_path}/latest" in told.hint
    assert stage.told.messages.empty()


def test_what_was_deleted_before_the_disk_failed_is_told_and_looked_past(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (store := tmp_path / "store").mkdir()
    stage = Stage(store, Keep(last=1))
    paths = [commit(store, step, b"data") for step in (1, 2, 3)]
    monkeypatch.setenv(VARIABLE, "EIO@deleted")
    monkeypatch.setenv(ONCE, str(tmp_path / "once"))
    instride.faults.arm()
    try:
        stage.tidying.after(outcome(paths[-1]))
    finally:
        monkeypatch.delenv(VARIABLE)
        instride.faults.arm()
    assert steps_in(store) == [2, 3]
    assert stage.told.all_of("deleted") == [{"names": ["step_00000001.pt"]}]
    assert len(stage.told.all_of("tidy-failed")) == 1
    assert stage.crew.num_looked_anew == 1


def test_an_original_that_goes_when_its_pack_is_there_is_looked_past_and_not_told(
    tmp_path: Path,
) -> None:
    stage = Stage(tmp_path, Keep())
    path = commit(tmp_path, 1, weights(20_000))
    stage.packs.wake()
    stage.packs.go_on()
    draft = stage.results.get(timeout=60)
    assert isinstance(draft, Draft)
    assert stage.crew.num_looked_anew == 0
    stage.packs.take(draft)
    assert not path.exists()
    assert stage.told.all_of("deleted") == []
    assert len(stage.told.all_of("packed")) == 1
    assert stage.crew.num_looked_anew == 1


def test_what_goes_for_a_save_on_a_full_disk_is_looked_past_before_the_save_is_tried_again(
    tmp_path: Path,
) -> None:
    stage = Stage(tmp_path, Keep(last=2))
    for step in (1, 2):
        commit(tmp_path, step, b"data")
    looked: list[int] = []

    def commit_now(job: Job) -> Outcome:
        looked.append(stage.crew.num_looked_anew)
        if len(looked) == 1:
            raise OSError(errno.ENOSPC, "No space left on device")
        return outcome(Path(job.begin.path))

    room = Room(stage.commits, stage.packs, stage.told, stage.deleting, threading.Event())
    room.commit(staged(tmp_path, 3), commit_now)
    assert looked == [0, 1]
    assert steps_in(tmp_path) == [2]
    assert stage.told.all_of("deleted") == [
        {"names": ["step_00000001.pt"], "why": "the disk is full"}
    ]


def test_a_directory_that_cannot_be_read_keeps_nobody_from_deleting(tmp_path: Path) -> None:
    stage = Stage(tmp_path / "gone", Keep())
    with stage.deleting.noted():
        pass
    assert stage.told.notes == []
    assert stage.crew.num_looked_anew == 1
