"""How large a checkpoint is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from instride.doctor.machine.sizes import MOST_RECENT, largest_recent


def saved(path: Path, num_bytes: int, modified: float = 1000.0) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes(num_bytes))
    os.utime(path, (modified, modified))


def test_the_largest_file_that_looks_like_a_checkpoint_counts(tmp_path: Path) -> None:
    saved(tmp_path / "step_100.pt", 10)
    saved(tmp_path / "step_200.pt", 30)
    saved(tmp_path / "train.log", 500)
    found = largest_recent(tmp_path)
    assert found is not None
    assert (found.path, found.size_bytes) == (str(tmp_path / "step_200.pt"), 30)


@pytest.mark.parametrize("name", ["checkpoint-500", "step_100", "epoch=3-step=7", "global_step9"])
def test_a_directory_of_one_step_counts_with_all_its_files(tmp_path: Path, name: str) -> None:
    saved(tmp_path / name / "model.safetensors", 20)
    saved(tmp_path / name / "states" / "optimizer.pt", 40)
    found = largest_recent(tmp_path)
    assert found is not None
    assert found.size_bytes == 60


def test_other_directories_are_left_alone(tmp_path: Path) -> None:
    saved(tmp_path / "wandb" / "run.bin", 20)
    assert largest_recent(tmp_path) is None


def test_checkpoints_of_long_ago_do_not_count(tmp_path: Path) -> None:
    saved(tmp_path / "old.pt", 900, modified=10.0)
    for number in range(MOST_RECENT):
        saved(tmp_path / f"step_{number}.pt", 5)
    found = largest_recent(tmp_path)
    assert found is not None
    assert found.size_bytes == 5


def test_links_are_not_followed(tmp_path: Path) -> None:
    saved(tmp_path / "elsewhere" / "big.pt", 900)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "latest.pt").symlink_to(tmp_path / "elsewhere" / "big.pt")
    (tmp_path / "out" / "checkpoint-1").symlink_to(tmp_path / "out")
    assert largest_recent(tmp_path / "out") is None


def test_a_directory_that_is_not_there_has_none(tmp_path: Path) -> None:
    assert largest_recent(tmp_path / "not-yet") is None
