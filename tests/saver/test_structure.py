"""What a checkpoint is made of is known from its directory, or else from its headers."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
import torch

import instride
from instride.image.layout import DATA
from instride.saver.structure import Skeleton, _apart, _layout_of, _ranges, skeleton_of

pytestmark = pytest.mark.torch


def tree() -> dict[str, Any]:
    shared = torch.arange(100_000.0)
    return {
        "large": torch.ones(300, 1000),
        "small": [torch.arange(n) for n in range(1, 30)],
        "views": (shared[:10], shared[10:].view(-1, 10).T),
        "none": torch.empty(0),
        "step": 3,
    }


def saved_by_us(path: Path) -> Path:
    instride.save(tree(), path).wait(60)
    return path


def saved_by_torch(path: Path) -> Path:
    torch.save(tree(), path)
    return path


@pytest.mark.parametrize(
    ("save", "is_known"), [(saved_by_us, True), (saved_by_torch, False)], ids=["ours", "torch's"]
)
def test_headers_are_looked_at_only_where_the_directory_does_not_tell(
    save: Any, is_known: bool, tmp_path: Path
) -> None:
    path = save(tmp_path / "file.pt")
    with zipfile.ZipFile(path) as archive, path.open("rb") as file:
        layout = _layout_of(archive.infolist())
        by_headers = dict(_ranges(archive.infolist(), file))

    assert (layout is not None) is is_known
    assert Skeleton(path).ranges == by_headers
    if layout is not None:
        assert {each.data_offset: each.num_bytes for each in layout.records} == by_headers


@pytest.mark.parametrize("save", [saved_by_us, saved_by_torch], ids=["ours", "torch's"])
def test_the_tree_is_that_of_the_file_but_for_its_values(save: Any, tmp_path: Path) -> None:
    skeleton = skeleton_of(save(tmp_path / "file.pt"))
    assert skeleton is not None

    def shapes(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return value.shape, value.stride(), value.storage_offset(), value.dtype
        if isinstance(value, dict):
            return {key: shapes(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [shapes(each) for each in value]
        return value

    assert shapes(skeleton.tree) == shapes(tree())


def rewritten(path: Path, compression: int, *, last_first: bool) -> Path:
    """With the same records, as somebody else would put them together."""
    other = path.with_suffix(".other")
    with zipfile.ZipFile(path) as before, zipfile.ZipFile(other, "w", compression) as after:
        infos = before.infolist()[:: -1 if last_first else 1]
        for info in infos:
            after.writestr(info.filename, before.read(info))
    return other


@pytest.mark.parametrize("last_first", [False, True])
def test_a_file_that_was_put_together_by_somebody_else_is_not_taken_for_ours(
    last_first: bool, tmp_path: Path
) -> None:
    path = saved_by_us(tmp_path / "file.pt")
    for compression in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        other = rewritten(path, compression, last_first=last_first)
        with zipfile.ZipFile(other) as archive:
            assert _layout_of(archive.infolist()) is None


def moved(info: zipfile.ZipInfo) -> None:
    info.header_offset += 64


def compressed(info: zipfile.ZipInfo) -> None:
    info.compress_type = zipfile.ZIP_DEFLATED


@pytest.mark.parametrize(
    ("change", "number"), [(moved, 0), (moved, 5), (compressed, 5), (moved, -1), (moved, None)]
)
def test_a_directory_that_is_not_all_as_we_write_it_tells_nothing(
    change: Callable[[zipfile.ZipInfo], None], number: int | None, tmp_path: Path
) -> None:
    with zipfile.ZipFile(saved_by_us(tmp_path / "file.pt")) as archive:
        infos = archive.infolist()
    num_storages = sum(info.filename.startswith(DATA) for info in infos)
    assert _layout_of(infos) is not None
    if number is None:
        for info in infos[num_storages:]:
            moved(info)
    else:
        change(infos[:num_storages][number])
    assert _layout_of(infos) is None
    assert _layout_of(infos[:num_storages]) is None
    assert _layout_of([]) is None


@pytest.mark.parametrize(
    ("ranges", "is_refused"),
    [
        ([(64, 10), (0, 64), (200, 0), (200 + 64, 5)], False),
        ([(0, 65), (64, 10)], True),
        ([(0, 0), (0, 10)], True),
    ],
)
def test_storages_that_overlap_are_refused(ranges: list[tuple[int, int]], is_refused: bool) -> None:
    """Who wrote them would have to say which of them has the bytes."""
    with pytest.raises(ValueError, match="overlap") if is_refused else nullcontext():
        assert _apart(ranges) == dict(ranges)


@pytest.mark.parametrize("data", [b"", b"PK\x05\x06" + bytes(18), b"no zip at all" * 100])
def test_what_is_no_checkpoint_has_no_structure(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file.pt"
    path.write_bytes(data)

    assert skeleton_of(path) is None
    with pytest.raises(FileNotFoundError):
        skeleton_of(tmp_path / "gone.pt")
