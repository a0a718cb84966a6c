"""Logs to be read as a source, and what their lines are."""

from __future__ import annotations

import gzip
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from unittest import mock

from instride.steps import source as source_module

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


Lines = list[tuple[int, str]]


CHUNKS = [*range(4, 20), 64, 1 << 20]
"""Sizes that put every byte of a short log at the border of a chunk."""


PACKS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "zstd": zstd.compress,
    "plain": bytes,
}


ENDS = ["", "\n", "\r\n", "\r", "\x1b[0m", "\n\x1b[0m", "\n\n\x1b(B\x1b[m"]


@contextmanager
def chunks_of(num_bytes: int) -> Iterator[None]:
    with mock.patch.object(source_module, "CHUNK_BYTES", num_bytes):
        yield


def steps(count: int) -> str:
    return "".join(f"iter {n}: loss 2.5000, time {100 + n}.00ms\n" for n in range(count))


def numbered(text: str) -> Lines:
    """The lines of a text without carriage returns, counted from 1."""
    return list(enumerate(text.removesuffix("\n").split("\n"), 1))


def pieces_with_text(text: str) -> Lines:
    """What readers must see: pieces between carriage returns, with the number of their line."""
    lines = text.replace("\r\n", "\n").split("\n")
    return [(n, part) for n, line in enumerate(lines, 1) for part in line.split("\r") if part]


def with_text(lines: Iterator[tuple[int, str]]) -> Lines:
    return [(number, text) for number, text in lines if text]


def interrupted(packed: bytes) -> bytes:
    return packed[: len(packed) * 2 // 3]


def varied(count: int) -> str:
    """Lines that do not compress to next to nothing, so that a cut file still holds many."""
    return "".join(f"iter {n}: loss {hash((n, 7)) % 99991}, time 1.00ms\n" for n in range(count))
