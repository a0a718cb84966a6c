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


TRAINING = """
import sys, torch, instride
from instride.snapshot import device_memory

model = torch.nn.Linear(1000, 1000).cuda()
optimizer = torch.optim.AdamW(model.parameters())

def train(saver):
    for step in range(4):
        model(torch.ones(1, 1000, device="cuda")).sum().backward()
        optimizer.step()
        saver.save(step).wait(60)

"""
ASSERTING = (
    TRAINING
    + """
with instride.Saver(sys.argv[1], model=model, optimizer=optimizer) as saver:
    train(saver)
    torch.zeros(3, device="cuda")[torch.tensor([9], device="cuda")]
    torch.cuda.synchronize()
"""
)

MISCAPTURING = [
    TRAINING
    + f"""
device_memory.SCARCE_PART = {part}
graph = torch.cuda.CUDAGraph()
with instride.Saver(sys.argv[1], model=model, optimizer=optimizer) as saver:
    train(saver)
    with torch.cuda.graph(graph):
        torch.cuda.synchronize()
"""
    for part in ("device_memory.SCARCE_PART", 1)
]
"""Where memory is kept between saves, and where it is scarce."""
POOLED = (
    TRAINING
    + """
device_memory.SCARCE_PART = 1
pool = torch.cuda.MemPool()
with instride.Saver(sys.argv[1], model=model, optimizer=optimizer) as saver:
    with torch.cuda.use_mem_pool(pool):
        train(saver)
"""
)


def train(store: Path, *options: str, where: str = "room", **variables: str) -> None:
    """Train and save, and see that everything is there as it was."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.gpu.trainer", str(store), "cuda", where, *options],
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


@pytest.mark.parametrize("where", ["room", "late"])
def test_children_that_end_as_programs_do(where: str, tmp_path: Path) -> None:
    """Also where another stream was seen to use what they let go of."""
    train(tmp_path, "fork", where=where)


def run(program: str, store: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program, str(store)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize(
    ("program", "told"),
    [(ASSERTING, "device-side assert"), *((program, "captur") for program in MISCAPTURING)],
    ids=["an assertion", "a capture", "a capture where memory is scarce"],
)
def test_what_fails_on_a_gpu_is_seen_by_whoever_trains(
    program: str, told: str, tmp_path: Path
) -> None:
    """Memory that is given back behind it would end the process, without a word of Python's."""
    done = run(program, tmp_path)
    assert "Traceback" in done.stderr
    assert told in done.stderr
    assert done.returncode == 1
    assert {each.step for each in checkpoints_in(tmp_path)} == set(range(4))


def test_a_pool_that_is_in_use_all_the_time(tmp_path: Path) -> None:
    """Nothing can be given back as long as it is."""
    done = run(POOLED, tmp_path)
    assert done.returncode == 0, done.stderr
    assert {each.step for each in checkpoints_in(tmp_path)} == set(range(4))
