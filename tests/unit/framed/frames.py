"""Files of frames, made and read here without the code that is tested."""

from __future__ import annotations

import os
import random
import struct
import threading
from pathlib import Path

from instride.agent.compressing import Means, Order, compress
from instride.agent.wholeness import Identity
from instride.framed.codecs import Codec, Zstd
from instride.governor.pace import Pace


def some_bytes(num_bytes: int, seed: int = 1) -> bytes:
    """Half noise, half something that repeats."""
    noise = random.Random(seed).randbytes(num_bytes // 2)
    return noise + (b"checkpoint " * (num_bytes // 11 + 1))[: num_bytes - len(noise)]


def framed(source: Path, codec: type[Codec] = Zstd, level: int = 1, num_threads: int = 2) -> Path:
    """A file compressed as the agent does it."""
    final = source.with_name(source.name + codec.suffix)
    identity = Identity.of(source.stat())
    order = Order(source, final, identity, lambda manifest: manifest)
    compress(order, Means(lambda: codec(level), Pace(), num_threads, lambda _: None))  # type: ignore[call-arg]
    return final


def seek_table(path: Path) -> list[tuple[int, ...]]:
    """The entries of the table, read by the offsets that the format's own page names."""
    raw = path.read_bytes()
    num_frames, flags, magic = struct.unpack("<IBI", raw[-9:])
    assert magic == 0x8F92EAB1
    width = 12 if flags & 0x80 else 8
    start = len(raw) - 9 - num_frames * width
    assert struct.unpack("<II", raw[start - 8 : start]) == (0x184D2A5E, num_frames * width + 9)
    each = "<III" if flags & 0x80 else "<II"
    return list(struct.iter_unpack(each, raw[start:-9]))


class Counted:
    """Counts bytes that were done, from several threads."""

    def __init__(self) -> None:
        self.num_bytes = 0
        self._lock = threading.Lock()

    def __call__(self, num_bytes: int) -> None:
        with self._lock:
            self.num_bytes += num_bytes


def resident_bytes() -> int:
    with Path("/proc/self/statm").open() as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
