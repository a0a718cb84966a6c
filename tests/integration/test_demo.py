"""The demo trains, logs as nanoGPT does, and its compressor compresses."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from multiprocessing.pool import ThreadPool
from pathlib import Path

import pytest

import instride
from instride.steps.model import EventKind
from instride.steps.readers.nanogpt import NanoGPT
from instride.steps.recording import Recording

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

EXAMPLES = Path(__file__).parents[2] / "examples"
TINY = "--steps 13 --eval-interval 4 --eval-batches 1 --save-interval 8 --layers 1 --width 16"
SMALL_BATCH = "--context 16 --batch 2"


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a tiny training leaves behind: its checkpoints, and its log beside them."""
    pytest.importorskip("torch", reason="the demo trains a model, and torch is not installed")
    directory = tmp_path_factory.mktemp("demo")
    (directory / "train.log").write_text(_train("--compressor", "none", "--out", str(directory)))
    return directory


def _train(*arguments: str) -> str:
    """What the demo's program prints."""
    program = str(EXAMPLES / "train_tiny_gpt.py")
    finished = subprocess.run(
        [sys.executable, program, *TINY.split(), *SMALL_BATCH.split(), *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=100,
    )
    return finished.stdout


@pytest.mark.torch
def test_every_line_is_one_that_nanogpt_prints(out: Path) -> None:
    shapes = (
        r"tokens per iteration will be: 32",
        r"number of parameters: \d+\.\d\dM",
        r"iter \d+: loss \d+\.\d{4}, time \d+\.\d\dms, mfu -?\d+\.\d\d%",
        r"step \d+: train loss \d+\.\d{4}, val loss \d+\.\d{4}",
        rf"saving checkpoint to {re.escape(str(out))}",
    )
    log = (out / "train.log").read_text().splitlines()
    strange = [line for line in log if not any(re.fullmatch(shape, line) for shape in shapes)]
    assert strange == []


@pytest.mark.torch
def test_the_log_has_every_step_evaluation_and_save(out: Path) -> None:
    recording = Recording(NanoGPT.dialect)
    reader = NanoGPT(recording)
    for number, line in enumerate((out / "train.log").read_text().splitlines(), 1):
        reader.feed(number, line)
    run = recording.finish()
    assert list(run.step) == list(range(13))
    assert all(seconds > 0 for seconds in run.seconds)
    events = [(event.kind, event.at) for event in run.events]
    assert events == [
        (EventKind.START, 0),
        (EventKind.EVAL, 0),
        (EventKind.EVAL, 4),
        (EventKind.EVAL, 8),
        (EventKind.SAVE, 8),
        (EventKind.EVAL, 12),
    ]


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:Failed to initialize NumPy")  # torch, where numpy is missing
def test_a_save_is_one_file_that_torch_can_load(out: Path) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    (checkpoint,) = out.glob("*.pt")
    state = torch.load(checkpoint, weights_only=True)
    assert state["step"] == 8
    assert {"model", "optimizer"} <= set(state)


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore:Failed to initialize NumPy")  # torch, where numpy is missing
def test_with_instride_it_leaves_packs_of_the_same_training(out: Path, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("numpy", reason="packs are made with numpy")
    _train("--saver", "instride", "--pack", "--out", str(tmp_path))
    (pack,) = tmp_path.glob("step_*.pack")
    (plain,) = out.glob("*.pt")
    packed = instride.load(pack)["model"]
    saved = torch.load(plain, weights_only=True)["model"]
    assert packed.keys() == saved.keys()
    assert all(torch.equal(packed[name], saved[name]) for name in saved)


def test_the_compressor_leaves_the_same_bytes_in_a_smaller_file(tmp_path: Path) -> None:
    checkpoint = tmp_path / "step_000008.pt"
    checkpoint.write_bytes(b"weights and moments " * 150_000)
    compressor = runpy.run_path(str(EXAMPLES / "naive_compressor.py"))
    with ThreadPool(2) as workers:
        compressor["pack"](checkpoint, workers)
    packed = (tmp_path / "step_000008.pt.zst").read_bytes()
    assert len(packed) < checkpoint.stat().st_size / 10
    assert zstd.decompress(packed) == checkpoint.read_bytes()
