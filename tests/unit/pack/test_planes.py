"""Planes: every byte comes back, exponents come to lie together, and damage is noticed."""

from __future__ import annotations

import contextlib
import struct
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from instride.framed.codecs import CorruptError
from instride.pack.container import WIDTHS
from instride.pack.planes import Codec
from tests.unit.pack.packs import weights

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

CODEC = Codec()


def stored(data: bytes, width: int) -> bytes:
    return b"".join(CODEC.split(np.frombuffer(data, np.uint8), width))


@given(st.binary(max_size=300), st.sampled_from(WIDTHS), st.integers(1, 600))
def test_any_bytes_come_back(data: bytes, width: int, times: int) -> None:
    data *= times
    joined = CODEC.join(memoryview(stored(data, width)), len(data), width)
    assert joined.tobytes() == data


@pytest.mark.parametrize(
    ("kind", "width", "place"), [("<f2", 2, 0x78), ("<f4", 4, 127), ("<f8", 8, 127)]
)
def test_the_last_plane_is_the_exponent_without_the_sign(kind: str, width: int, place: int) -> None:
    data = np.array([1.0, -1.0] * 8, kind).tobytes()
    raw = stored(data, width)
    lengths = struct.unpack_from(f"<{width}I", raw)
    at = 4 * width + sum(lengths[:-1])
    last = raw[at : at + lengths[-1]]
    plane = last if len(last) == 16 else zstd.decompress(last)
    assert set(plane) == {place}


def test_bytes_that_are_noise_are_stored_as_they_are() -> None:
    lengths = struct.unpack_from("<4I", stored(weights(5000), 4))
    assert lengths[:3] == (5000, 5000, 5000)
    assert lengths[3] < 2500


@given(st.binary(max_size=200), st.sampled_from(WIDTHS), st.integers(0, 200))
def test_bytes_that_nobody_stored_are_joined_to_nothing_or_refused(
    raw: bytes, width: int, num_bytes: int
) -> None:
    with contextlib.suppress(CorruptError):
        assert len(CODEC.join(memoryview(raw), num_bytes, width)) == num_bytes


@given(st.binary(max_size=100), st.integers(0, 1 << 20))
def test_a_frame_gives_as_many_bytes_as_were_announced_or_none(raw: bytes, num_bytes: int) -> None:
    for data in (raw, CODEC.squeeze(raw)):
        with contextlib.suppress(CorruptError):
            assert len(CODEC.expand(data, num_bytes)) == num_bytes


def test_a_frame_that_claims_too_much_is_not_expanded() -> None:
    bomb = zstd.compress(bytes(1 << 30))
    with pytest.raises(CorruptError):
        CODEC.expand(bomb, 1 << 20)


def test_a_frame_without_a_size_is_not_expanded() -> None:
    compressor = zstd.ZstdCompressor()
    frame = compressor.compress(b"abc" * 9) + compressor.flush()
    with pytest.raises(CorruptError):
        CODEC.expand(frame, 27)


def test_a_second_frame_behind_the_first_is_refused() -> None:
    with pytest.raises(CorruptError):
        CODEC.expand(zstd.compress(b"abc") + zstd.compress(b"def"), 3)


def test_a_window_larger_than_any_block_is_refused() -> None:
    options: dict[int, int] = {zstd.CompressionParameter.window_log: 27}
    compressor = zstd.ZstdCompressor(options=options)
    frame = compressor.compress(bytes(3 << 20)) + compressor.flush()
    with pytest.raises(CorruptError):
        CODEC.expand(frame, 3 << 20)
