"""`verify` reads every byte: what it finds, and that it goes on after the first damage."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from instride.errors import NoCheckpointError, NoStoreError
from instride.store.checking import Watcher, check
from instride.store.manifest import PIECE_BYTES
from tests.unit.store.committing import commit, flip, large


def test_whole_checkpoints_are_whole(tmp_path: Path) -> None:
    for step in (1, 2):
        commit(tmp_path, step, large(step))

    verdict = check(tmp_path)

    assert [each.state for each in verdict.checkpoints] == ["whole", "whole"]
    assert (verdict.num_damaged, verdict.num_bytes) == (0, 2 * len(large(0)))


@pytest.mark.parametrize("offset", [0, PIECE_BYTES - 1, PIECE_BYTES, 2 * PIECE_BYTES - 1])
def test_one_flipped_bit_anywhere_is_found(offset: int, tmp_path: Path) -> None:
    path = commit(tmp_path, 7, large(7))
    flip(path, offset)

    (checked,) = check(path).checkpoints

    assert (checked.state, checked.damaged_pieces) == ("damaged", [offset // PIECE_BYTES])
    begin = offset // PIECE_BYTES * PIECE_BYTES
    last = min(begin + PIECE_BYTES, len(large(7))) - 1
    assert checked.why == f"it differs somewhere in the bytes from {begin} to {last}"
    assert begin <= offset <= last


def test_all_that_is_damaged_is_told_each_with_its_reason(tmp_path: Path) -> None:
    flip(commit(tmp_path, 1, large(1)), 5)
    flip(commit(tmp_path, 2, large(2)), -1)
    longer = commit(tmp_path, 3, b"z" * 100_000)
    longer.write_bytes(b"z" + longer.read_bytes())
    commit(tmp_path, 4)
    (tmp_path / "step_00000005.pt").write_bytes(b"not ours")
    sealed = commit(tmp_path, 6, b"another")
    (manifest,) = (tmp_path / ".instride" / "manifests").glob("step_00000006*")
    manifest.write_bytes(manifest.read_bytes().replace(b'"step": 6', b'"step": 7'))

    verdict = check(tmp_path)

    assert [(each.step, each.state, each.reason) for each in verdict.checkpoints] == [
        (1, "damaged", "other-bytes"),
        (2, "damaged", "other-end"),
        (3, "damaged", "other-size"),
        (4, "whole", None),
        (5, "foreign", "no-manifest"),
        (6, "damaged", "other-manifest"),
    ]
    assert verdict.num_damaged == 4
    assert sealed.exists()


def test_a_link_stands_for_the_file_that_it_points_to(tmp_path: Path) -> None:
    commit(tmp_path, 1)

    (checked,) = check(tmp_path / "latest").checkpoints

    assert (checked.name, checked.state) == ("step_00000001.pt", "whole")


def test_whoever_waits_is_told_of_every_byte(tmp_path: Path) -> None:
    commit(tmp_path, 1, large(1))
    told: list[int] = []
    announced: list[int] = []

    check(tmp_path, Watcher(announced.append, told.append))

    assert sum(told) == sum(announced) == len(large(1))
    assert len(told) == 3


def test_nothing_of_ours_is_an_error_with_the_next_command(tmp_path: Path) -> None:
    with pytest.raises(NoCheckpointError) as empty:
        check(tmp_path)
    foreign = tmp_path / "step_00000001.pt"
    foreign.write_bytes(b"not ours")
    with pytest.raises(NoCheckpointError, match="no manifest") as other:
        check(foreign)

    assert "instride list" in empty.value.hint
    assert "unzip -t" in other.value.hint


def test_a_pipe_is_refused_instead_of_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(NoStoreError, match="neither a file nor a directory"):
        check(tmp_path / "pipe")
