"""The bytes of an image: a zip that every reader takes, laid out before anything is known of it."""

from __future__ import annotations

import io
import random
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from isal.isal_zlib import crc32

from instride.image import zipping
from instride.image.finishing import Finisher
from instride.image.layout import LARGE_ALIGNMENT, LARGE_BYTES, lay_out, tail_of

SIZES = st.lists(
    st.one_of(st.integers(0, 300), st.integers(LARGE_BYTES - 2, LARGE_BYTES + 2)), max_size=8
)
SMALL = {"data.pkl": b"pickle", "version": b"3\n"}


def image_of(sizes: list[int], piece_bytes: int) -> tuple[bytes, list[bytes]]:
    """A whole file, finished in pieces, in memory that was used before."""
    noise = random.Random(7)
    layout = lay_out(sizes)
    contents = [noise.randbytes(size) for size in sizes]
    image = bytearray(noise.randbytes(layout.num_bytes))
    for record, content in zip(layout.records, contents, strict=True):
        image[record.data_offset : record.data_end] = content
    finisher = Finisher(layout)
    for offset in range(0, len(image), piece_bytes):
        finisher.finish(memoryview(image)[offset : offset + piece_bytes], offset)
    tail = tail_of(layout, finisher.crcs, SMALL, [crc32(data) for data in SMALL.values()])
    return bytes(image) + tail, contents


@given(SIZES, st.sampled_from([1, 7, 64, 4096, 1 << 20]))
def test_any_sizes_finished_in_any_pieces_give_a_sound_zip(sizes: list[int], piece: int) -> None:
    if piece < 64:
        sizes = [size % 300 for size in sizes]
    whole, contents = image_of(sizes, piece)

    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        assert archive.testzip() is None
        assert [archive.read(f"archive/data/{key}") for key in range(len(sizes))] == contents
        assert {name: archive.read(f"archive/{name}") for name in SMALL} == SMALL


@given(SIZES)
def test_storages_do_not_overlap_and_large_ones_start_at_a_page(sizes: list[int]) -> None:
    records = lay_out(sizes).records

    end = 0
    for record in records:
        assert record.header_offset == end
        assert record.data_offset - record.header_offset == len(record.header())
        assert (
            record.data_offset % (LARGE_ALIGNMENT if record.num_bytes >= LARGE_BYTES else 64) == 0
        )
        end = record.end


def test_a_layout_depends_on_the_sizes_alone() -> None:
    assert lay_out([5, 100_000, 0]) == lay_out([5, 100_000, 0])


@pytest.mark.parametrize(
    "num_bytes", [zipping.LIMIT - 1, zipping.LIMIT, zipping.LIMIT + 1, 1 << 40]
)
def test_a_storage_of_four_gigabytes_and_more_is_described_in_64_bits(num_bytes: int) -> None:
    (record,) = lay_out([num_bytes]).records
    large = num_bytes >= zipping.LIMIT

    header = record.header()
    assert (b"\x01\x00\x10\x00" in header) == large
    assert len(zipping.descriptor(1, num_bytes)) == (24 if large else 16)
    assert record.end - record.data_end == (24 if large else 16)


def test_a_directory_beyond_four_gigabytes_is_found() -> None:
    """Sparse: the storages are holes, the file has five gigabytes."""
    import os
    import tempfile

    layout = lay_out([5 << 30, 10])
    crcs = [0, crc32(bytes(10))]
    tail = tail_of(layout, crcs, SMALL, [crc32(data) for data in SMALL.values()])
    with tempfile.TemporaryFile() as file:
        for record in layout.records:
            os.pwrite(file.fileno(), record.header(), record.header_offset)
        os.pwrite(file.fileno(), tail, layout.num_bytes)
        with zipfile.ZipFile(file) as archive:
            sizes = [info.file_size for info in archive.infolist()]
            assert sizes == [5 << 30, 10, 6, 2]
            assert archive.read("archive/data/1") == bytes(10)
