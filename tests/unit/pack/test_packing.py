"""Packing and unpacking: the same bytes come back, and no file goes before its pack is sure."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest
from blake3 import blake3
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from instride.errors import OverwriteError, PackError
from instride.pack import cutting, unpacking
from instride.pack.container import MAGIC, Method
from instride.pack.contents import contents_of
from instride.pack.dtypes import Region
from instride.pack.encoding import encode
from instride.pack.packing import pack
from instride.pack.planes import Codec
from instride.pack.reading import Pack, PackFile
from instride.pack.unpacking import unpack, verify_pack
from instride.store.manifest import read_manifest
from instride.store.verifying import verify
from tests.unit.pack.packs import nudged, packed, safetensors, weights
from tests.unit.store.committing import commit

PIECES = st.lists(
    st.tuples(st.sampled_from(["F64", "F32", "F16", "BF16", "F8_E4M3", "I64", "?"]), st.binary()),
    max_size=5,
)


def bytes_of(path: Path) -> bytes:
    """What a pack gives back, by every way there is."""
    with PackFile(path) as file:
        through_file = file.read()
    assert through_file is not None
    out = path.with_name("unpacked")
    unpack(path, out)
    data = out.read_bytes()
    out.unlink()
    assert data == through_file
    assert contents_of(path).blake3 == blake3(data).hexdigest()
    return data


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=2000), st.integers(1, 40))
def test_any_file_comes_back(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, times: int
) -> None:
    assume(not data.startswith(MAGIC))
    path = packed(tmp_path_factory.mktemp("any") / "file", data * times)
    assert bytes_of(path) == data * times


@settings(max_examples=60, deadline=None)
@given(PIECES, st.integers(1, 3000), st.sampled_from([64, 1000, 4096]))
def test_tensors_of_any_kind_come_back_whatever_the_size_of_blocks(
    tmp_path_factory: pytest.TempPathFactory,
    pieces: list[tuple[str, bytes]],
    times: int,
    block_bytes: int,
) -> None:
    tensors = {f"t{n}": (dtype, data * times) for n, (dtype, data) in enumerate(pieces)}
    data = safetensors(**tensors)[:200_000]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cutting, "BLOCK_BYTES", block_bytes)
        path = packed(tmp_path_factory.mktemp("any") / "a.safetensors", data)
    assert bytes_of(path) == data


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=500), st.binary(max_size=500), st.integers(1, 60))
def test_any_file_comes_back_from_any_base(
    tmp_path_factory: pytest.TempPathFactory, old: bytes, new: bytes, times: int
) -> None:
    assume(not old.startswith(MAGIC) and not (old + new).startswith(MAGIC))
    folder = tmp_path_factory.mktemp("any")
    base = packed(folder / "old", old * times)
    path = packed(folder / "new", (old + new) * times, base)
    assert bytes_of(path) == (old + new) * times


def test_the_original_goes_when_its_pack_was_read_back(tmp_path: Path) -> None:
    path = tmp_path / "a.pt"
    path.write_bytes(weights(1000))
    answer = pack(path)
    assert not answer.is_original_kept
    assert [each.name for each in tmp_path.iterdir()] == ["a.pt.pack"]
    assert unpack(Path(answer.path)).path == str(path)
    assert path.read_bytes() == weights(1000)


def test_blocks_that_are_larger_than_ours_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _written(tmp_path / "a.safetensors", safetensors(a=("F32", weights(5000))))
    data = path.read_bytes()
    answer = pack(path)
    monkeypatch.setattr(unpacking, "BLOCK_BYTES", 64)
    assert Path(unpack(Path(answer.path)).path).read_bytes() == data


def test_a_link_leads_to_what_is_packed(tmp_path: Path) -> None:
    _written(tmp_path / "a.pt", b"text" * 100)
    (tmp_path / "link").symlink_to("a.pt")
    answer = pack(tmp_path / "link")
    assert Path(answer.path).name == "a.pt.pack"
    assert not (tmp_path / "a.pt").exists()


@pytest.mark.parametrize("name", ["a b", "a\\b", "\u00fc\u00df.pt", "a\nb", "caf\udce9.pt"])
def test_a_file_of_any_name_can_be_packed(name: str, tmp_path: Path) -> None:
    path = packed(tmp_path / name, b"text" * 100)
    assert bytes_of(path) == b"text" * 100


def test_the_original_stays_where_it_is_asked_for_or_latest_points_to_it(tmp_path: Path) -> None:
    for name in ("a.pt", "b.pt"):
        (tmp_path / name).write_bytes(b"text" * 100)
    (tmp_path / "latest").symlink_to("b.pt")
    assert pack(tmp_path / "a.pt", keep_original=True).is_original_kept
    answer = pack(tmp_path / "b.pt")
    assert answer.is_original_kept
    assert answer.is_pointed_to
    assert (tmp_path / "a.pt").exists()
    assert (tmp_path / "b.pt").exists()


def test_a_pack_that_is_there_is_replaced_on_demand_only(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.bin", b"first")
    (tmp_path / "a.bin").write_bytes(b"second")
    with pytest.raises(OverwriteError):
        pack(tmp_path / "a.bin")
    assert bytes_of(path) == b"first"
    with pytest.raises(OverwriteError):
        unpack(path)
    pack(tmp_path / "a.bin", force=True)
    assert bytes_of(path) == b"second"


@pytest.mark.parametrize("name", ["missing", "folder"])
def test_what_is_no_file_cannot_be_packed(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(PackError):
        pack(tmp_path / name)
    with pytest.raises(PackError):
        unpack(tmp_path / name)


def test_a_pack_is_not_packed_again(tmp_path: Path) -> None:
    with pytest.raises(PackError, match="a pack already"):
        pack(packed(tmp_path / "a.bin", b"text"))


def test_a_file_that_changes_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"text" * 100)

    def change(_: int) -> None:
        path.write_bytes(b"other text")

    with pytest.raises(PackError, match="was changed meanwhile"):
        pack(path, progress=change)
    assert [each.name for each in tmp_path.iterdir()] == ["a.bin"]


def test_floats_are_packed_better_than_any_general_way(tmp_path: Path) -> None:
    data = weights(100_000)
    path = packed(tmp_path / "a.safetensors", safetensors(w=("F32", data)))
    assert path.stat().st_size / len(data) < 0.85


def test_floats_are_found_in_a_file_that_says_nothing(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.bin", weights(100_000))
    with Pack(path) as opened:
        assert [(each.method, each.width) for each in opened.index] == [(Method.PLANES, 4)]


def test_what_cannot_be_compressed_costs_no_more_than_its_place(tmp_path: Path) -> None:
    noise = blake3(b"noise").digest(length=1 << 20)
    path = packed(tmp_path / "a.bin", noise)
    assert path.stat().st_size - len(noise) < 300


def test_what_a_base_has_costs_nothing(tmp_path: Path) -> None:
    data = weights(2_000_000)
    base = packed(tmp_path / "a.bin", data)
    answer = pack(_written(tmp_path / "b.bin", data), base)
    assert answer.same_bytes == len(data)
    assert answer.pack_bytes < 1000
    assert bytes_of(Path(answer.path)) == data


def test_what_changed_a_little_costs_little_though_it_has_moved(tmp_path: Path) -> None:
    data = weights(100_000)
    base = packed(tmp_path / "a.safetensors", safetensors(w=("F32", data)))
    moved = safetensors(first=("U8", b"x" * 40), w=("F32", nudged(data)))
    path = packed(tmp_path / "b.safetensors", moved, base)
    assert path.stat().st_size / len(data) < 0.72
    assert bytes_of(path) == moved


def test_a_manifest_goes_along_there_and_back(tmp_path: Path) -> None:
    original = commit(tmp_path, 500, metric=1.5)
    (tmp_path / "latest").unlink(missing_ok=True)
    before = read_manifest(original)
    assert before is not None
    path = Path(pack(original).path)
    manifest = verify(path)
    assert (manifest.step, manifest.metric, manifest.serial) == (500, 1.5, before.serial)
    assert read_manifest(original) is None
    unpack(path)
    assert verify(original) == msgspec.structs.replace(before, check=verify(original).check)


def test_progress_is_told_in_bytes_of_the_original(tmp_path: Path) -> None:
    path = _written(tmp_path / "a.bin", weights(1_200_000))
    seen: list[int] = []
    answer = pack(path, progress=seen.append)
    assert sum(seen) == 4_800_000
    seen.clear()
    verify_pack(Path(answer.path), seen.append)
    assert sum(seen) == 4_800_000


def test_small_regions_go_along_with_their_neighbours() -> None:
    regions = [
        Region(64, 40_064, "a", 4),
        Region(40_128, 40_200, "b", 2),
        Region(40_256, 90_256, "c", 4),
    ]
    assert cutting.cut(regions, 90_256) == [cutting.Cut(0, 64, None), cutting.Cut(64, 90_256, 4)]


@pytest.mark.parametrize("width", [4, None], ids=["floats", "integers"])
def test_what_follows_the_last_numbers_is_cut_off(width: int | None) -> None:
    numbers = Region(64, 40_064, "a", width, is_tensor=True)
    regions = [numbers, Region(40_128, 40_328, "data.pkl", None)]
    assert cutting.cut(regions, 40_400)[-1].start == 40_064


def test_regions_whose_elements_do_not_line_up_are_cut() -> None:
    regions = [Region(0, 40_000, "a", 4), Region(40_002, 80_002, "b", 4)]
    assert [each.start for each in cutting.cut(regions, 80_002)] == [0, 40_002]


def test_more_regions_than_blocks_there_may_be_are_not_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cutting, "MOST_BLOCKS", 4)
    regions = [Region(n * 20_000, (n + 1) * 20_000, str(n), 2 + n % 2 * 2) for n in range(5)]
    assert cutting.cut(regions, 100_000) == [cutting.Cut(0, 100_000, None)]


def test_a_block_of_zeros_is_nearly_nothing() -> None:
    encoded = encode(Codec(), np.zeros(1 << 20, np.uint8), 4, None)
    assert encoded.num_bytes < 1000


def _written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path
