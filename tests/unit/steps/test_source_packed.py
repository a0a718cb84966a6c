"""Compressed files, also cut and damaged ones, and encodings other than UTF-8."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable

import pytest

from instride.errors import UnreadableLogError
from instride.steps.source import Source

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd
from tests.unit.steps.sources import PACKS, chunks_of, interrupted, numbered, steps, varied


@pytest.mark.parametrize("pack", PACKS.values(), ids=PACKS)
@pytest.mark.parametrize("num_bytes", [5, 1 << 20])
def test_a_file_reads_the_same_packed_and_plain(
    log: Callable[[bytes], Source], pack: Callable[[bytes], bytes], num_bytes: int
) -> None:
    with chunks_of(num_bytes):
        source = log(pack(steps(500).encode()))
        assert list(source.lines()) == numbered(steps(500))
        assert source.texts([500]) == {500: "iter 499: loss 2.5000, time 599.00ms"}
        assert not source.is_truncated


@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress], ids=["gzip", "zstd"])
def test_what_a_cut_file_still_holds_is_read_and_the_cut_is_known(
    log: Callable[[bytes], Source], pack: Callable[[bytes], bytes]
) -> None:
    text = varied(40_000)
    source = log(interrupted(pack(text.encode())))
    lines = list(source.lines())
    assert source.is_truncated
    assert len(lines) > 10_000
    # The last line may be a part of one.
    assert lines[:-1] == numbered(text)[: len(lines) - 1]
    assert source.texts([5]) == {5: numbered(text)[4][1]}


def test_a_damaged_gzip_file_is_read_up_to_the_damage(log: Callable[[bytes], Source]) -> None:
    text = varied(40_000)
    packed = bytearray(gzip.compress(text.encode()))
    middle = len(packed) // 2
    packed[middle : middle + 64] = b"\xff" * 64
    source = log(bytes(packed))
    lines = list(source.lines())
    assert source.is_truncated
    assert 1000 < len(lines) < 40_000
    assert lines[:1000] == numbered(text)[:1000]


@pytest.mark.parametrize("pack", [gzip.compress, zstd.compress], ids=["gzip", "zstd"])
def test_packed_data_of_which_nothing_is_left_cannot_be_read(
    log: Callable[[bytes], Source], pack: Callable[[bytes], bytes]
) -> None:
    with pytest.raises(UnreadableLogError, match="compressed data is cut off"):
        list(log(pack(varied(50).encode())[:9]).lines())


def test_several_gzip_members_are_one_log(log: Callable[[bytes], Source]) -> None:
    source = log(gzip.compress(b"a\nb") + gzip.compress(b"c\nd\n"))
    assert list(source.lines()) == [(1, "a"), (2, "bc"), (3, "d")]


@pytest.mark.parametrize("flavour", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["bare", "marked"])
@pytest.mark.parametrize("num_bytes", [2001, 1 << 20])
def test_utf_16_is_read_with_and_without_its_mark(
    log: Callable[[bytes], Source], flavour: str, mark: str, num_bytes: int
) -> None:
    text = steps(200) + "r\u00e9sum\u00e9 \u4e2d \U0001f680\r\n" + "last"
    with chunks_of(num_bytes):
        source = log((mark + text).encode(flavour))
        assert list(source.lines()) == numbered(text.replace("\r", ""))
        assert source.texts([201]) == {201: "r\u00e9sum\u00e9 \u4e2d \U0001f680"}


def test_half_a_character_at_the_end_of_utf_16_adds_no_line(log: Callable[[bytes], Source]) -> None:
    content = steps(3).encode("utf-16-le") + b"i"
    with chunks_of(len(content) - 1):
        source = log(content)
        assert list(source.lines()) == numbered(steps(3))


def test_the_utf_8_mark_is_not_part_of_the_first_line(log: Callable[[bytes], Source]) -> None:
    source = log(b"\xef\xbb\xbfiter 0\niter 1\n")
    assert list(source.lines()) == [(1, "iter 0"), (2, "iter 1")]
    assert source.texts([1]) == {1: "iter 0"}
