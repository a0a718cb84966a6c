"""What `instride list` finds out: states, marks, leftovers, and who works on a store."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest

from instride.errors import NoStoreError
from instride.store.listing import list_store
from tests.unit.store.committing import commit, flip, large, owned_by_this_process


def files_of(directory: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file()
    }


def test_a_committed_checkpoint_is_told_with_what_its_manifest_says(tmp_path: Path) -> None:
    commit(tmp_path, 100, b"x" * 1000, metric=0.25)

    (entry,) = list_store(tmp_path).checkpoints

    assert (entry.name, entry.step, entry.size_bytes) == ("step_00000100.pt", 100, 1000)
    assert (entry.state, entry.metric, entry.serial) == ("committed", 0.25, 1)
    assert (entry.call_s, entry.durable_s) == (0.004, 1.5)
    assert entry.age_s > 0


def test_the_newest_is_the_last_commit_not_the_highest_step(tmp_path: Path) -> None:
    for step in (100, 300, 200):
        commit(tmp_path, step)
    (tmp_path / "latest").unlink()
    (tmp_path / "latest").symlink_to("step_00000300.pt")

    entries = list_store(tmp_path).checkpoints

    assert [(e.step, e.is_newest, e.is_latest) for e in entries] == [
        (100, False, False),
        (200, True, False),
        (300, False, True),
    ]


def test_a_file_of_somebody_else_is_foreign(tmp_path: Path) -> None:
    (tmp_path / "step_00000100.pt").write_bytes(b"not ours")

    (entry,) = list_store(tmp_path).checkpoints

    assert (entry.state, entry.serial, entry.call_s) == ("foreign", None, None)
    assert not entry.is_newest


def test_a_changed_end_is_damage_that_is_seen_without_reading_all(tmp_path: Path) -> None:
    flip(commit(tmp_path, 100, large(1)), -1)

    (entry,) = list_store(tmp_path).checkpoints

    assert entry.state == "damaged"


def test_what_may_not_be_read_is_neither_damaged_nor_somebody_elses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(tmp_path, 100)
    (tmp_path / "step_00000200.pt").write_bytes(b"somebody's")

    def refuse(path: Path) -> str:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr("instride.store.manifest.read_token", refuse)

    assert [entry.state for entry in list_store(tmp_path).checkpoints] == ["unreadable"] * 2


def test_unfinished_files_are_listed_with_their_sizes(tmp_path: Path) -> None:
    (tmp_path / ".step_00000100.pt.0123abcd.tmp").write_bytes(b"x" * 10)
    (tmp_path / ".notes.tmp").write_bytes(b"somebody's")

    (leftover,) = list_store(tmp_path).leftovers

    assert (leftover.name, leftover.size_bytes) == (".step_00000100.pt.0123abcd.tmp", 10)


def test_the_manifest_of_a_checkpoint_that_somebody_deleted_is_no_unfinished_file(
    tmp_path: Path,
) -> None:
    commit(tmp_path, 100).unlink()

    (leftover,) = list_store(tmp_path).leftovers

    assert leftover.is_stray_manifest
    assert leftover.name.startswith(".instride/manifests/step_00000100.pt.")


def test_a_manifest_that_waits_for_its_file_to_get_a_name_is_not_stray(tmp_path: Path) -> None:
    path = commit(tmp_path, 100)
    path.rename(tmp_path / f".{path.name}.0123abcd.tmp")

    assert [each.is_stray_manifest for each in list_store(tmp_path).leftovers] == [False, False]


def test_looking_changes_nothing_and_makes_no_directory(tmp_path: Path) -> None:
    (tmp_path / "step_00000100.pt").write_bytes(b"not ours")
    before = files_of(tmp_path)

    list_store(tmp_path)

    assert files_of(tmp_path) == before
    assert not (tmp_path / ".instride").exists()


def test_a_living_owner_is_named_and_one_that_is_gone_is_not(tmp_path: Path) -> None:
    commit(tmp_path, 100)
    assert list_store(tmp_path).owner is None

    lock = owned_by_this_process(tmp_path)
    owner = list_store(tmp_path).owner

    assert owner is not None
    assert owner.is_training
    lock.release()
    (tmp_path / ".instride" / "lock").write_text(
        json.dumps(
            {"host": owner.host, "trainer_pid": 1, "trainer_started": 1, "writer_pid": 1 << 22}
        )
    )
    assert list_store(tmp_path).owner is None


def test_an_owner_on_another_machine_is_named_for_nobody_can_tell(tmp_path: Path) -> None:
    (tmp_path / ".instride").mkdir()
    (tmp_path / ".instride" / "lock").write_text(
        '{"host":"node7.cluster","trainer_pid":1,"trainer_started":1,"writer_pid":1}'
    )

    owner = list_store(tmp_path).owner

    assert owner is not None
    assert (owner.host, owner.is_training, owner.is_here) == ("node7.cluster", True, False)


def test_a_lock_that_holds_something_else_is_nobody(tmp_path: Path) -> None:
    (tmp_path / ".instride").mkdir()
    (tmp_path / ".instride" / "lock").write_bytes(b"\xff{")

    assert list_store(tmp_path).owner is None


@pytest.mark.parametrize("name", ["missing", "file"])
def test_what_is_no_directory_is_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(NoStoreError, match=name):
        list_store(tmp_path / name)
