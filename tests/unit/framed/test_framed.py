"""Files of frames: read by others, read in any part, and what damage looks like."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from instride.errors import DamagedError
from instride.framed.codecs import Codec, Lz4, Zstd
from instride.framed.container import FRAME_BYTES, Frame, closing
from instride.framed.reading import Framed, entry_of, is_framed, open_framed, verify_framed
from tests.unit.framed.frames import framed, seek_table, some_bytes

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

DATA = some_bytes(2 * FRAME_BYTES + 12_345)
CODECS = [Zstd, Lz4]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "step_100.pt"
    path.write_bytes(DATA)
    return path


def run(*command: object) -> bytes:
    if shutil.which(str(command[0])) is None:
        pytest.skip(f"there is no {command[0]} on this machine")
    return subprocess.run([*map(str, command)], capture_output=True, check=True).stdout


def test_zstd_itself_opens_the_file(source: Path) -> None:
    made = framed(source)
    assert run("zstd", "-dc", made) == DATA
    run("zstd", "-t", made)


def test_lz4_itself_opens_the_file(source: Path) -> None:
    assert run("lz4", "-dc", framed(source, Lz4, 0)) == DATA


def test_a_reader_that_knows_no_table_reads_from_front_to_back(source: Path) -> None:
    assert zstd.decompress(framed(source).read_bytes()) == DATA


def test_the_table_is_that_of_the_seekable_format(source: Path) -> None:
    made = framed(source)
    table = seek_table(made)
    raw = made.read_bytes()
    assert [entry[1] for entry in table] == [FRAME_BYTES, FRAME_BYTES, 12_345]
    at = 0
    for stored_bytes, num_bytes, checksum in table:
        frame = raw[at : at + stored_bytes]
        assert len(zstd.decompress(frame)) == num_bytes
        assert frame[-4:] == checksum.to_bytes(4, "little")  # the frame's own XXH64, its low half
        at += stored_bytes


@pytest.mark.parametrize("codec", CODECS)
def test_any_part_can_be_read_and_only_its_frames_are_touched(
    source: Path, codec: type[Codec]
) -> None:
    made = framed(source, codec)
    with Framed(made) as file:
        assert file.table.size_bytes == len(DATA)
        assert file.block(1) == DATA[FRAME_BYTES : 2 * FRAME_BYTES]
    with open_framed(made) as opened:
        for offset, num_bytes in ((0, 10), (FRAME_BYTES - 5, 10), (len(DATA) - 7, 100), (3, 1)):
            opened.seek(offset)
            assert opened.read(num_bytes) == DATA[offset : offset + num_bytes]
        opened.seek(-5, os.SEEK_END)
        assert opened.read() == DATA[-5:]


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("place", [100, FRAME_BYTES, -200_000])
def test_a_flipped_bit_is_found(source: Path, codec: type[Codec], place: int) -> None:
    made = framed(source, codec)
    raw = bytearray(made.read_bytes())
    raw[place] ^= 1
    made.write_bytes(raw)
    with pytest.raises(DamagedError, match="the bytes from"):
        verify_framed(made)


def test_every_cut_is_found(source: Path) -> None:
    source.write_bytes(DATA[:1000])
    made = framed(source)
    raw = made.read_bytes()
    for length in range(4, len(raw)):
        made.write_bytes(raw[:length])
        with pytest.raises(DamagedError, match="seek table"):
            Framed(made)


def test_a_table_that_does_not_add_up_is_refused(source: Path) -> None:
    made = framed(source)
    raw = made.read_bytes()
    frames = [Frame(*entry) for entry in seek_table(made)]
    body = raw[: sum(frame.stored_bytes for frame in frames)]
    first = frames[0]
    for wrong in (
        [first._replace(stored_bytes=first.stored_bytes - 1), *frames[1:]],
        [first._replace(num_bytes=1 << 30), *frames[1:]],
        frames[1:],
        [*frames, frames[0]],
    ):
        made.write_bytes(body + closing(wrong))
        with pytest.raises(DamagedError, match="seek table does not fit"):
            Framed(made)


def test_a_table_that_lies_about_a_frame_is_found(source: Path) -> None:
    made = framed(source)
    frames = [Frame(*entry) for entry in seek_table(made)]
    body = made.read_bytes()[: sum(frame.stored_bytes for frame in frames)]
    for wrong in (
        frames[0]._replace(num_bytes=frames[0].num_bytes - 1),
        frames[0]._replace(checksum=(frames[0].checksum or 0) ^ 1),
    ):
        made.write_bytes(body + closing([wrong, *frames[1:]]))
        with pytest.raises(DamagedError):
            verify_framed(made)


def test_files_of_others_are_told_apart(tmp_path: Path) -> None:
    plain = tmp_path / "plain.zst"
    plain.write_bytes(zstd.compress(DATA))
    text = tmp_path / "text.zst"
    text.write_text("no frame at all")
    assert is_framed(plain)
    assert entry_of(plain) is None
    assert not is_framed(text)
    with pytest.raises(DamagedError, match="no seek table"):
        open_framed(plain)
    with pytest.raises(DamagedError, match="neither zstd nor lz4"):
        open_framed(text)


def test_seekable_files_without_checksums_in_their_frames_are_read(tmp_path: Path) -> None:
    frame = zstd.compress(DATA[:1000])
    path = tmp_path / "theirs.zst"
    path.write_bytes(frame + closing([Frame(len(frame), 1000, 0x12345678)]))
    with open_framed(path) as file:
        assert file.read() == DATA[:1000]


@pytest.mark.parametrize("codec", CODECS)
def test_lighter_steps_of_a_codec_give_frames_that_anybody_reads(codec: type[Codec]) -> None:
    made = codec()
    sizes = []
    for lighter in (0, 1, 2):
        frame = made.compress(DATA, lighter)
        assert made.expand(frame, len(DATA)) == DATA
        sizes.append(len(frame))
    assert sizes == sorted(sizes)
