"""What is numbers in a file is found without running anything, however the file lies."""

from __future__ import annotations

import io
import pickle
import random
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from instride.pack import dtypes
from instride.pack.dtypes import Region, regions_of, storages_in
from tests.unit.pack.archives import mark_of_storage, zipped
from tests.unit.pack.packs import safetensors


def found_in(data: bytes) -> list[Region]:
    regions = regions_of(io.BytesIO(data))
    ends = [0] + [region.end for region in regions]
    assert all(end <= region.start for end, region in zip(ends, regions, strict=False))
    assert ends[-1] <= len(data)
    return regions


@pytest.mark.torch
def test_tensors_of_torch_are_found_with_their_widths(tmp_path: Path) -> None:
    import torch

    kinds = [torch.float32, torch.bfloat16, torch.float16, torch.float64, torch.int64]
    state = {str(kind): torch.arange(3000).to(kind) for kind in kinds}
    state["again"] = state["torch.float32"]
    path = tmp_path / "a.pt"
    torch.save({"model": state, "step": 7}, path)
    with path.open("rb") as file:
        regions = regions_of(file)
    data = path.read_bytes()
    found = {region.name: region for region in regions}
    assert [found[f"data/{n}"].width for n in range(5)] == [4, 2, 2, 8, None]
    for number, kind in enumerate(kinds):
        region = found[f"data/{number}"]
        raw = state[str(kind)].view(torch.uint8).numpy().tobytes()
        assert data[region.start : region.end] == raw


def test_tensors_of_safetensors_are_found() -> None:
    data = safetensors(a=("F32", b"abcd" * 9), b=("F8_E5M2", b"xy"), c=("I32", b"wxyz"))
    regions = found_in(data)
    assert [(each.name, each.width) for each in regions] == [("a", 4), ("b", 1), ("c", None)]
    assert data[regions[1].start : regions[1].end] == b"xy"


@pytest.mark.parametrize("is_new", [False, True])
def test_storages_are_read_off_the_opcodes(is_new: bool) -> None:
    marks = [
        mark_of_storage("0", "torch FloatStorage", is_new=is_new),
        mark_of_storage("1", "torch BFloat16Storage", is_new=is_new),
    ]
    raw = (b"\x80\x04" if is_new else b"\x80\x02") + b"".join(marks) + b"."
    assert list(storages_in(raw)) == [("0", "torch FloatStorage"), ("1", "torch BFloat16Storage")]


class Trap:
    """Runs something when it is unpickled."""

    sprung = False

    def __reduce__(self) -> tuple[object, ...]:
        return (setattr, (Trap, "sprung", True))


def test_nothing_in_a_pickle_is_run() -> None:
    raw = pickle.dumps({"a": Trap()}, protocol=2)
    found_in(zipped({"archive/data.pkl": raw, "archive/data/0": bytes(100)}))
    assert not Trap.sprung
    pickle.loads(raw)
    assert Trap.sprung  # else the trap was none


def test_a_record_that_is_compressed_is_not_taken_for_numbers() -> None:
    assert found_in(zipped({"archive/data/0": bytes(5000)}, zipfile.ZIP_DEFLATED)) == []


def test_records_that_overlap_are_counted_once() -> None:
    data = bytearray(zipped({"a/data/0": b"x" * 100, "a/data/1": b"y" * 100}))
    second = data.rindex(b"PK\x01\x02")
    struct.pack_into("<I", data, second + 42, 0)  # the second record starts where the first does
    assert len(found_in(bytes(data))) == 1


def test_sizes_beyond_the_file_are_not_believed() -> None:
    data = bytearray(zipped({"a/data/0": b"x" * 100}))
    central = data.rindex(b"PK\x01\x02")
    struct.pack_into("<II", data, central + 20, 2**32 - 2, 2**32 - 2)
    assert found_in(bytes(data)) == []


def test_a_directory_of_absurd_size_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    data = zipped({"a/data/0": b"x" * 100})
    monkeypatch.setattr(dtypes, "MOST_DIRECTORY_BYTES", 10)
    assert found_in(data) == []


def test_a_pickle_of_absurd_size_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = b"\x80\x02" + mark_of_storage("0", "torch FloatStorage") + b"."
    data = zipped({"a/data.pkl": raw, "a/data/0": bytes(100)})
    assert [each.width for each in found_in(data)] == [None, 4]
    monkeypatch.setattr(dtypes, "MOST_PICKLE_BYTES", 10)
    assert [each.width for each in found_in(data)] == [None, None]


@pytest.mark.skipif(sys.platform != "linux", reason="what a process needs is read from /proc")
def test_a_small_file_cannot_ask_for_much_memory() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.unit.pack.bombs"],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[3],
    )
    peaks = {line.partition(":")[0]: int(line.split()[-1]) for line in done.stdout.splitlines()}
    assert len(peaks) == 6
    assert max(peaks.values()) < 256 << 20, peaks


def test_more_opcodes_than_anybody_needs_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = b"\x80\x02" + mark_of_storage("0", "torch FloatStorage") + b"."
    assert len(list(storages_in(raw))) == 1
    monkeypatch.setattr(dtypes, "MOST_OPCODES", 5)
    assert list(storages_in(raw)) == []


@pytest.mark.parametrize(
    "header",
    [
        b"[1]",
        b"{",
        b'{"a": 3}',
        b'{"a": {"dtype": "F32", "data_offsets": [8, 4]}}',
        b'{"a": {"dtype": "F32", "data_offsets": [-8, 4]}}',
        b'{"a": {"dtype": "F32", "data_offsets": [0, 99999999999999999999]}}',
        b'{"a": {"dtype": ["F32"], "data_offsets": [0, 4]}}',
        b'{"a": {"dtype": "F32"}}',
        b"[" * 1000,
        b"\xff\xfe",
    ],
)
def test_a_header_that_lies_is_not_believed(header: bytes) -> None:
    regions = found_in(struct.pack("<Q", len(header)) + header + bytes(64))
    assert all(region.start < region.end for region in regions)


@pytest.mark.parametrize("length", [0, 1, 2**40, 2**64 - 1])
def test_a_header_of_absurd_length_is_not_read(length: int) -> None:
    assert found_in(struct.pack("<Q", length) + b"{}" + bytes(64)) == []


@given(st.binary(max_size=300))
def test_any_bytes_have_regions_in_order_or_none(data: bytes) -> None:
    found_in(data)
    found_in(struct.pack("<Q", len(data)) + data)
    found_in(zipped({"a/data.pkl": data, "a/data/0": data}))


@given(st.integers(0, 2**32), st.integers(1, 8))
def test_changed_archives_have_regions_in_order_or_none(seed: int, changes: int) -> None:
    dice = random.Random(seed)
    raw = b"\x80\x02" + mark_of_storage("0", "torch FloatStorage") + b"."
    data = bytearray(zipped({"a/data.pkl": raw, "a/data/0": bytes(100), "a/data/1": bytes(9)}))
    for _ in range(changes):
        data[dice.randrange(len(data))] = dice.randrange(256)
    found_in(bytes(data))
