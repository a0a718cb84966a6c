"""Where a file is called `latest`: a copy becomes the link again, somebody's file stays."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from instride.store.latest import is_stale, mend_latest, point_latest
from instride.store.listing import list_store
from tests.unit.store.committing import commit


@pytest.fixture
def store(tmp_path: Path) -> Path:
    for step in (1, 2):
        commit(tmp_path, step, b"state %d" % step)
    return tmp_path


def give_latest(store: Path, data: bytes) -> Path:
    """As `cp -L` does it, and whoever keeps a file of that name."""
    link = store / "latest"
    link.unlink()
    link.write_bytes(data)
    return link


@pytest.mark.parametrize("step", [1, 2])
def test_a_copy_of_a_checkpoint_becomes_the_link_again(step: int, store: Path) -> None:
    link = give_latest(store, b"state %d" % step)
    assert is_stale(store) == (step == 1)

    mend_latest(store)

    assert link.readlink() == Path("step_00000002.pt")
    assert not is_stale(store)


def test_a_copy_of_what_was_the_newest_follows_the_next_one(store: Path) -> None:
    link = give_latest(store, b"state 2")
    third = store / "step_00000003.pt"
    third.write_bytes(b"state 3")

    point_latest(third)

    assert link.readlink() == Path(third.name)


@pytest.mark.parametrize("data", [b"mine", b"state 9", b""])
def test_a_file_of_somebody_stays_and_is_told_of(data: bytes, store: Path) -> None:
    link = give_latest(store, data)

    mend_latest(store)
    point_latest(store / "step_00000002.pt")

    assert not link.is_symlink()
    assert link.read_bytes() == data
    assert is_stale(store)
    assert list_store(store).is_latest_stale


@pytest.mark.parametrize("kind", ["link", "nothing", "folder", "pipe"])
def test_what_nobody_takes_for_a_checkpoint_is_not_told_of(kind: str, store: Path) -> None:
    link = store / "latest"
    if kind != "link":
        link.unlink()
    if kind == "folder":
        link.mkdir()
    if kind == "pipe":
        os.mkfifo(link)  # to open it would be to wait for ever

    mend_latest(store)

    assert not is_stale(store)
    assert link.is_symlink() == (kind == "link")


def test_beside_no_checkpoint_of_ours_a_file_of_that_name_is_nothing_to_tell(
    tmp_path: Path,
) -> None:
    (tmp_path / "latest").write_bytes(b"mine")

    assert not is_stale(tmp_path)
