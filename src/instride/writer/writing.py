"""From an image in the arena to a durable file that has no name yet."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

from blake3 import blake3
from isal.isal_zlib import crc32

from instride.faults import reached
from instride.image.layout import lay_out, tail_of
from instride.store.atomic import sync_file
from instride.store.manifest import PIECE_BYTES, TAIL_BYTES, token_of
from instride.store.naming import Written
from instride.store.staggering import Staggered, most_threads
from instride.writer.direct import PieceFile, aligned_copy
from instride.writer.hands import Crew
from instride.writer.page import SharedPage
from instride.writer.pieces import ImagePieces, StreamEndedError
from instride.writer.protocol import Begin, Finish
from instride.writer.reading_back import Checksum

IDENTITY = ".data/serialization_id"
"""A record of torch's own files: 40 digits that no other file has."""


class Job:
    """One snapshot on its way: announced, then finished or given up."""

    def __init__(self, begin: Begin) -> None:
        self.begin = begin
        self.finish: Finish | None = None
        self.is_cancelled = False
        self.is_answered = False
        """Whether the trainer knows what became of it."""
        self._settled = threading.Event()

    def settle(self, finish: Finish | None) -> None:
        """The trainer sent the rest; or never will."""
        if self._settled.is_set():
            return
        self.finish = finish
        self.is_cancelled = finish is None
        self._settled.set()

    def await_rest(self) -> Finish:
        self._settled.wait()
        if self.finish is None:
            raise StreamEndedError
        return self.finish


def write_image(
    job: Job, arena: memoryview, page: SharedPage, temporary: Path, crew: Crew
) -> Written:
    """Write the image of a job; on any failure the temporary file is left to the caller."""
    layout = lay_out(job.begin.sizes or [])
    num_whole, rest_bytes = divmod(job.begin.image_bytes, PIECE_BYTES)
    file = PieceFile(temporary, job.begin.image_bytes)
    try:
        reached("opened")
        pieces = ImagePieces(
            arena, layout, num_whole, file, page, lambda: job.is_cancelled,
            Staggered(most_threads()), job.begin.streams, job.begin.arrives,
        )  # fmt: skip
        crew.run(
            pieces.do_one,
            num_bytes=job.begin.image_bytes,
            turn_bytes=pieces.turn_bytes,
            is_awaited=job.begin.streams,  # its rest waits in the training thread
        )
        reached("written")
        finish = job.await_rest()
        rest = pieces.slot(num_whole)[:rest_bytes]
        pieces.complete_rest(rest)
        sums = pieces.sums()
        tail = b""
        if job.begin.sizes is not None:
            small = finish.small | {IDENTITY: _identity(sums, rest)}
            small_crcs = [crc32(data) for data in small.values()]
            tail = tail_of(layout, pieces.crcs(), small, small_crcs)
        sums += _write_tail(file, rest, tail, num_whole * PIECE_BYTES)
        size_bytes = job.begin.image_bytes + len(tail)
        file.cut(size_bytes)
        reached("tail")
        sync_file(file.fd)
        page.count_progress()
        reached("synced")
        before = pieces.slot(num_whole - 1) if num_whole else memoryview(b"")
        token = token_of(_last(before, rest, tail))
        digests, checksums = ([each[which] for each in sums] for which in (0, 1))
        return Written(size_bytes, digests, token, file.is_direct, checksums)
    finally:
        file.close()


def _identity(sums: list[tuple[str, str]], rest: memoryview) -> bytes:
    """From every byte of every storage: the directory alone may be longer than the part of a file
    that its manifest is found by, and would not tell two files with the same name apart."""
    total = blake3("".join(digest for digest, _ in sums).encode())
    total.update(rest)
    return f"{int(total.hexdigest()[:32], 16):040d}".encode()


def _write_tail(
    file: PieceFile, rest: memoryview, tail: bytes, offset: int
) -> Iterator[tuple[str, str]]:
    """What is behind the whole pieces: the end of the storages and the tail. Gives the hash and
    the checksum of each piece."""
    num_bytes = len(rest) + len(tail)
    with aligned_copy(rest, tail) as buffer, memoryview(buffer) as view:
        for start in range(0, num_bytes, PIECE_BYTES):
            with view[start : start + PIECE_BYTES] as piece:
                reached("write")
                file.write(piece, offset + start)
                with piece[: num_bytes - start] as content:
                    yield blake3(content).hexdigest(), Checksum(content).hexdigest()


def _last(before: memoryview, rest: memoryview, tail: bytes) -> bytes:
    """The last 64 KiB of the file."""
    end = bytes(rest[-TAIL_BYTES:]) + tail[-TAIL_BYTES:]
    missing = TAIL_BYTES - len(end)
    return bytes(before[-missing:]) + end if missing > 0 else end[-TAIL_BYTES:]
