"""What lies on the disk is read back by checksums in memory, or by the hashes of its manifest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import pytest
import torch

from instride.errors import DamagedError
from instride.image.layout import lay_out
from instride.store.manifest import PIECE_BYTES, read_manifest, write_manifest
from instride.store.retention import Keep
from instride.writer import committing
from instride.writer.committing import Commits
from instride.writer.hands import Crew
from instride.writer.page import SharedPage
from instride.writer.protocol import Begin, Finish
from instride.writer.reading_back import Checksum, ReadBack, Sum
from instride.writer.writing import Job

SIZES = [3 * PIECE_BYTES + 12_345, 77]


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """By what each read-back compared."""
    found: list[str] = []

    class Noted(ReadBack):
        def __init__(
            self, path: Path, expected: Sequence[str], new_sum: Callable[[], Sum], page: SharedPage
        ) -> None:
            found.append("checksums" if new_sum is Checksum else "hashes")
            super().__init__(path, expected, new_sum, page)

    monkeypatch.setattr(committing, "ReadBack", Noted)
    return found


def committed(store: Path, sizes: list[int] | None = SIZES) -> tuple[Commits, Path]:
    commits = Commits(store, Keep(), SharedPage.create(), Crew())
    return commits, commit(commits, store, 3, sizes)


def commit(commits: Commits, store: Path, step: int, sizes: list[int] | None = SIZES) -> Path:
    """A file of ours, or one that torch.save has made whole."""
    num_bytes = 2 * PIECE_BYTES if sizes is None else lay_out(sizes).num_bytes
    small = {} if sizes is None else {"data.pkl": b"N."}
    path = store / f"step_{step:08d}.pt"
    arena_bytes = -(-num_bytes // PIECE_BYTES) * PIECE_BYTES
    job = Job(Begin(1, str(path), sizes, num_bytes, arena_bytes, False))
    job.settle(Finish(1, small, step, None, [], {}, 0.0, 0.0, 0.0, 0.0, 0.0))
    arena = torch.zeros(arena_bytes + 4096, dtype=torch.uint8)
    start = -arena.data_ptr() % 4096
    commits.commit(job, memoryview(arena[start : start + arena_bytes].numpy()))
    return path


def flip(path: Path, offset: int) -> None:
    raw = bytearray(path.read_bytes())
    raw[offset] ^= 1
    path.write_bytes(raw)


def test_what_was_just_written_is_read_back_by_its_checksums(
    tmp_path: Path, ways: list[str]
) -> None:
    commits, path = committed(tmp_path)
    commits.verify(path)
    assert ways == ["checksums"]


@pytest.mark.parametrize("offset", [0, 1 << 20, PIECE_BYTES, 2 * PIECE_BYTES - 5])
def test_any_bit_that_flipped_on_the_disk_is_found(
    offset: int, tmp_path: Path, ways: list[str]
) -> None:
    commits, path = committed(tmp_path)
    flip(path, offset)
    with pytest.raises(DamagedError):
        commits.verify(path)
    assert ways == ["checksums"]


def test_a_manifest_that_is_not_the_one_that_was_written_is_what_counts(
    tmp_path: Path, ways: list[str]
) -> None:
    """Whoever replaced it, the file has to be what it says."""
    commits, path = committed(tmp_path)
    manifest = read_manifest(path)
    assert manifest is not None
    write_manifest(path, msgspec.structs.replace(manifest, pieces=manifest.pieces[::-1]))
    with pytest.raises(DamagedError):
        commits.verify(path)
    assert ways == ["hashes"]


def test_a_file_without_a_manifest_is_damaged(tmp_path: Path, ways: list[str]) -> None:
    commits, path = committed(tmp_path)
    for each in (tmp_path / ".instride" / "manifests").iterdir():
        each.unlink()
    with pytest.raises(DamagedError):
        commits.verify(path)
    assert ways == []


def test_a_file_that_ends_with_a_piece_has_no_empty_one_behind_it(
    tmp_path: Path, ways: list[str]
) -> None:
    commits, path = committed(tmp_path, None)
    manifest = read_manifest(path)
    assert manifest is not None
    assert len(manifest.pieces) == 2
    commits.verify(path)
    assert ways == ["checksums"]
