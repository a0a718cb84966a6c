"""Files that are written in pieces, past the page cache where the filesystem lets us."""

from __future__ import annotations

import errno
import fcntl
import mmap
import os
import threading
from pathlib import Path

import pytest

from instride.writer.direct import BLOCK_BYTES, PieceFile

NUM_THREADS = 4


def test_threads_that_are_refused_direct_writes_together_all_go_through_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some filesystems open a file for direct writes and refuse every one of them."""
    write = os.pwrite
    first_writes = threading.Barrier(NUM_THREADS)
    waited = threading.local()

    def refuse_direct(fd: int, data: memoryview, offset: int) -> int:
        if not hasattr(waited, "once"):
            waited.once = True
            is_direct = fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_DIRECT
            first_writes.wait()
            if is_direct:
                raise OSError(errno.EINVAL, "no direct writes")
        return write(fd, data, offset)

    monkeypatch.setattr(os, "pwrite", refuse_direct)
    file = PieceFile(tmp_path / "file", NUM_THREADS * BLOCK_BYTES)
    failed: list[OSError] = []

    def write_piece(index: int) -> None:
        with mmap.mmap(-1, BLOCK_BYTES) as memory, memoryview(memory) as piece:
            piece[:] = bytes([index]) * BLOCK_BYTES
            try:
                file.write(piece, index * BLOCK_BYTES)
            except OSError as error:
                failed.append(error)

    threads = [threading.Thread(target=write_piece, args=(n,)) for n in range(NUM_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    file.close()

    assert failed == []
    expected = b"".join(bytes([index]) * BLOCK_BYTES for index in range(NUM_THREADS))
    assert (tmp_path / "file").read_bytes() == expected
