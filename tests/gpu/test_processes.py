"""Trainings in a process of their own: with other allocators, and with children."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from instride.store.directory import checkpoints_in
from tests.gpu.trainer import KEPT, STEPS, are_of
from tests.gpu.trainings import NEEDS_A_GPU

pytestmark = NEEDS_A_GPU

ALLOCATORS = ("backend:cudaMallocAsync", "expandable_segments:True", "max_split_size_mb:64")


def train(store: Path, *options: str, **variables: str) -> None:
    """Train and save, and see that everything is there as it was."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.gpu.trainer", str(store), "cuda", "room", *options],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert [int(line) for line in done.stdout.split()] == list(STEPS)
    found = {checkpoint.step: checkpoint.path for checkpoint in checkpoints_in(store)}
    assert set(found) == set(STEPS[-KEPT:])
    for step, path in found.items():
        saved = torch.load(path, weights_only=True, map_location="cpu")
        assert are_of(saved["state"]["values"], step, "cuda")


@pytest.mark.parametrize("allocator", ALLOCATORS)
def test_other_allocators_of_device_memory(allocator: str, tmp_path: Path) -> None:
    train(tmp_path, PYTORCH_CUDA_ALLOC_CONF=allocator)


def test_children_that_end_as_programs_do(tmp_path: Path) -> None:
    train(tmp_path, "fork")
