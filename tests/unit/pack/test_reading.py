"""A pack can be read like the file that it was made from, from any place."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import instride
from instride.pack import cutting
from instride.pack.packing import pack
from instride.pack.reading import Pack, PackFile
from tests.soak.fuzz_pack import fuzz
from tests.unit.pack.packs import nudged, packed, weights

ROOT = Path(__file__).parents[3]
GOLDEN = Path(__file__).parent / "golden"
DATA = weights(30_000)


@pytest.fixture(scope="module")
def many_blocks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cutting, "BLOCK_BYTES", 1000)
        return packed(tmp_path_factory.mktemp("pack") / "a.bin", DATA)


@settings(max_examples=30, deadline=None)
@given(
    reads=st.lists(
        st.tuples(st.integers(-10, len(DATA) + 10), st.integers(0, 5000)), min_size=1, max_size=8
    )
)
def test_any_bytes_from_any_place(reads: list[tuple[int, int]], many_blocks: Path) -> None:
    real = io.BytesIO(DATA)
    with PackFile(many_blocks) as file, Pack(many_blocks) as opened:
        for place, count in reads:
            offset = max(0, place)
            assert file.seek(offset) == real.seek(offset)
            assert file.read(count) == real.read(count)
            assert file.tell() == real.tell()
            assert opened.read_at(offset, count) == DATA[offset : offset + count]


def test_places_are_counted_from_the_start_from_here_and_from_the_end(many_blocks: Path) -> None:
    with PackFile(many_blocks) as file:
        assert file.seek(-4, os.SEEK_END) == len(DATA) - 4
        assert file.read() == DATA[-4:]
        file.seek(-6, os.SEEK_CUR)
        assert file.read(2) == DATA[-6:-4]
        assert (file.readable(), file.seekable(), file.writable()) == (True, True, False)
        with pytest.raises(ValueError, match="before the start"):
            file.seek(-1)
    assert file.closed
    file.close()


@pytest.mark.torch
def test_torch_loads_a_pack_and_a_delta_like_the_original(tmp_path: Path) -> None:
    import torch

    state = {"w": torch.randn(50_000), "h": torch.randn(9000).bfloat16(), "step": 3}
    torch.save(state, tmp_path / "a.pt")
    base = Path(pack(tmp_path / "a.pt").path)
    later = {**state, "w": state["w"] * 1.001, "step": 13}
    torch.save(later, tmp_path / "b.pt")
    delta = Path(pack(tmp_path / "b.pt", base).path)
    for path, expected in ((base, state), (delta, later)):
        loaded = instride.load(path)
        assert torch.equal(loaded["w"], expected["w"])
        assert torch.equal(loaded["h"], expected["h"])
        assert loaded["step"] == expected["step"]


def test_packs_that_nobody_would_write_are_read_rightly_or_refused() -> None:
    answers = fuzz(0, 400)
    assert answers["refused"] > 200
    assert answers["read"] > 5
    assert answers["looked into"] > 50


def golden_original() -> bytes:
    return b"a header, 24 bytes long." + weights(6000) + b"and a tail"


def golden_changed() -> bytes:
    return b"a header, 24 bytes long." + nudged(weights(6000)) + b"and a tail"


@pytest.mark.parametrize(
    ("name", "original"),
    [("full-v1.bin.pack", golden_original()), ("delta-v1.bin.pack", golden_changed())],
)
def test_packs_of_version_1_can_be_read_for_ever(name: str, original: bytes) -> None:
    with Pack(GOLDEN / name) as opened:
        assert b"".join(bytes(block) for block in opened.blocks()) == original


def test_the_example_reads_what_we_write(tmp_path: Path, many_blocks: Path) -> None:
    base = packed(tmp_path / "a.bin", DATA + b"text" * 9000)
    changed = nudged(DATA) + b"text" * 9000
    delta = packed(tmp_path / "b.bin", changed, base)
    same = packed(tmp_path / "c.bin", DATA + b"text" * 9000, base)
    originals = {many_blocks: DATA, delta: changed, same: DATA + b"text" * 9000}
    originals[GOLDEN / "delta-v1.bin.pack"] = golden_changed()
    for path, original in originals.items():
        done = subprocess.run(
            [sys.executable, ROOT / "examples/read_pack.py", path], capture_output=True, check=True
        )
        assert done.stdout == original


def test_the_example_knows_nothing_of_ours() -> None:
    assert "instride" not in [
        word
        for line in (ROOT / "examples/read_pack.py").read_text().splitlines()
        if line.startswith(("import ", "from "))
        for word in line.replace(".", " ").split()
    ]
