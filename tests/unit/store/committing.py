"""Puts checkpoints into a directory as the writer does, without a training."""

from __future__ import annotations

import os
import socket
from pathlib import Path

from blake3 import blake3

from instride.store.directory import LATEST, name_of, newest_first
from instride.store.lock import Owner, StoreLock, started_at
from instride.store.manifest import PIECE_BYTES, TAIL_BYTES, Manifest, Timings, token_of
from instride.store.manifest import write_manifest as write

CREATED_S = 1_767_225_600.0


def commit(
    directory: Path,
    step: int,
    data: bytes = b"weights",
    *,
    metric: float | None = None,
    created_s: float = CREATED_S,
) -> Path:
    """A committed checkpoint; each later one has a higher serial."""
    path = directory / name_of(step)
    newest = newest_first(directory)
    pieces = [data[begin : begin + PIECE_BYTES] for begin in range(0, len(data), PIECE_BYTES)]
    manifest = Manifest(
        name=path.name,
        token=token_of(data[-TAIL_BYTES:]),
        size_bytes=len(data),
        pieces=[blake3(piece).hexdigest() for piece in pieces],
        created_s=created_s,
        serial=newest[0].serial + 1 if newest else 1,
        step=step,
        metric=metric,
        timings=Timings(call_s=0.004, waited_s=0.0, staged_s=0.05, durable_s=1.5),
    )
    write(path, manifest)
    path.write_bytes(data)
    link = directory / LATEST
    link.unlink(missing_ok=True)
    link.symlink_to(path.name)
    return path


def flip(path: Path, offset: int) -> None:
    """Change one bit of a file."""
    data = bytearray(path.read_bytes())
    data[offset] ^= 1
    path.write_bytes(data)


def large(marker: int) -> bytes:
    """Two pieces and a bit, so that damage in front leaves the end as it was."""
    return bytes([marker]) * (2 * PIECE_BYTES + 100_000)


def owned_by_this_process(directory: Path) -> StoreLock:
    """The lock of a training that lives: this very process."""
    lock = StoreLock(directory)
    pid = os.getpid()
    assert lock.try_take(Owner(socket.gethostname(), pid, started_at(pid) or 0, pid)) is None
    return lock
