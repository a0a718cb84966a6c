"""Packs where they are used: without numpy, by a Saver that restores, and by the benchmark."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from instride.bench.packing import DCP, OURS, OURS_DELTA, measure, run
from instride.pack.packing import pack
from instride.store.directory import LATEST
from tests.unit.pack.packs import nudged, packed, weights

WITHOUT_NUMPY = """
import sys
sys.modules["numpy"] = None
from instride.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("verb", ["pack", "unpack"])
def test_without_numpy_it_says_what_to_install(verb: str, tmp_path: Path) -> None:
    (tmp_path / "a.pt").write_bytes(b"text")
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_NUMPY, verb, tmp_path / "a.pt"],
        env={**os.environ, "LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 41
    assert "needs `numpy`" in done.stderr
    assert "pip install 'instride[pack]'" in done.stderr


def test_help_loads_neither_numpy_nor_torch() -> None:
    program = (
        "import sys; from instride.cli.main import main; main(['pack', '--help']); "
        "print(*(set(sys.modules) & {'numpy', 'torch'}), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stderr.split() == []


@pytest.mark.torch
def test_a_saver_restores_from_a_pack_and_from_a_delta(tmp_path: Path) -> None:
    import torch

    from instride import Saver

    model = torch.nn.Linear(200, 300)
    with Saver(tmp_path, model=model) as saver:
        kept = []
        for step in (1, 2, 3):
            saver.save(step).wait()
            kept.append(model.weight.detach().clone())
            with torch.no_grad():
                model.weight += 0.001
    (tmp_path / LATEST).unlink()
    base = Path(pack(tmp_path / "step_00000001.pt").path)
    pack(tmp_path / "step_00000002.pt", base)
    pack(tmp_path / "step_00000003.pt", base)
    with Saver(tmp_path, model=model) as saver:
        for step in (2, 1):
            assert saver.restore(step=step) == step + 1
            assert torch.equal(model.weight, kept[step - 1])
        assert saver.restore() == 4
        assert torch.equal(model.weight, kept[2])


@pytest.mark.torch
def test_the_benchmark_measures_dcp(tmp_path: Path) -> None:
    import torch

    pytest.importorskip("zstandard", reason="zstandard is not installed, which DCP compresses with")
    torch.save({"a": {"w": torch.zeros(1000)}}, tmp_path / "fp32-next.pt")
    row = measure(DCP, "fp32", tmp_path)
    assert row.error is None
    assert row.ratio > 0


@pytest.mark.parametrize("name", [OURS, OURS_DELTA, "zstd -1"])
def test_the_benchmark_measures_there_and_back(name: str, tmp_path: Path) -> None:
    data = weights(200_000)
    packed(tmp_path / "fp32-base.bin", data)
    (tmp_path / "fp32-next.bin").write_bytes(nudged(data))
    row = measure(name, "fp32", tmp_path)
    assert (row.name, row.data, row.error) == (name, "fp32", None)
    assert 0.3 < row.ratio < 0.95
    assert min(row.pack_bytes_per_s, row.unpack_bytes_per_s, row.peak_bytes) > 0
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "fp32-base.bin.pack",
        "fp32-next.bin",
    ]


def test_a_way_that_fails_is_told_and_does_not_stop_the_benchmark(tmp_path: Path) -> None:
    (tmp_path / "fp32-next.bin").write_bytes(b"text")
    row = run("no such way", "fp32", tmp_path)
    assert row.error is not None
    assert "no such way" in row.error


@pytest.mark.torch
def test_a_training_leaves_pairs_of_checkpoints(tmp_path: Path) -> None:
    import torch

    from instride.bench.trained import enlarge, write_checkpoints

    write_checkpoints(tmp_path, num_layers=1, width=12, num_steps=2)
    assert len(list(tmp_path.glob("*-base.pt"))) == len(list(tmp_path.glob("*-next.pt"))) == 5
    base = torch.load(tmp_path / "frozen-base.pt")["model"]
    later = torch.load(tmp_path / "frozen-next.pt")["model"]
    changed = [name for name in base if not torch.equal(base[name], later[name])]
    assert 0 < len(changed) < len(base)
    enlarge(tmp_path / "adam-next.pt", tmp_path / "large.safetensors", 1_000_000)
    assert (tmp_path / "large.safetensors").stat().st_size > 1_000_000
