"""What packing makes of real checkpoints, beside other ways: the answer of `instride bench pack`.

From file to file with every way, each in a process of its own (`python -m instride.bench.packing`),
on as many threads as instride takes.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from instride.bench.codecs import RIVALS
from instride.bench.trips import Dcp, InPieces, Ours, Trip
from instride.pack.packing import pack
from instride.pack.reading import num_threads

SCHEMA = 1
OURS, OURS_DELTA, DCP = "instride", "instride delta", "dcp zstd"
WIDTHS = {"fp32": 4, "adam": 4, "bf16": 2, "frozen": 4}
"""The checkpoints, and the bytes of their floats: weights, weights with the state of Adam, weights
in bfloat16, and a training in which a twentieth of the state changes."""


class Row(msgspec.Struct, frozen=True):
    name: str
    data: str
    ratio: float
    """Bytes that are left, of one."""
    pack_bytes_per_s: float
    unpack_bytes_per_s: float
    peak_bytes: int
    """Of the process, Python and libraries included."""
    error: str | None = None


class Bench(msgspec.Struct, frozen=True):
    """What `--json` prints."""

    rows: list[Row]
    loss: float | None
    """What the training reached; null where checkpoints were there already."""
    num_threads: int
    schema: int = SCHEMA


def measure(name: str, data: str, folder: Path) -> Row:
    """Go there and back with one way; what comes back must be what went in."""
    (source,) = folder.glob(f"{data}-next.*")
    with tempfile.TemporaryDirectory(dir=folder, prefix=".bench-") as inner:
        trip = _trip(name, data, source, Path(inner))
        start_s = time.perf_counter()
        packed_bytes = trip.there()
        middle_s = time.perf_counter()
        trip.back()
        end_s = time.perf_counter()
        peak_bytes = own_peak_bytes()
        trip.check()
    size = source.stat().st_size
    return Row(
        name,
        data,
        ratio=packed_bytes / size,
        pack_bytes_per_s=size / (middle_s - start_s),
        unpack_bytes_per_s=size / (end_s - middle_s),
        peak_bytes=peak_bytes,
    )


def _trip(name: str, data: str, source: Path, folder: Path) -> Trip:
    if name == OURS:
        return Ours(source, None, folder)
    if name == OURS_DELTA:
        return Ours(source, next(source.parent.glob(f"{data}-base.*.pack")), folder)
    if name == DCP:
        return Dcp(source, folder)
    return InPieces(name, WIDTHS[data], source, folder)


def own_peak_bytes() -> int:
    """The most memory that this process had; what the system counts for its children begins with
    the size of whoever started them."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) * 1024
    return 0


def run(name: str, data: str, folder: Path) -> Row:
    """Measure in a process of its own: peaks are those of one way alone."""
    command = [sys.executable, "-m", "instride.bench.packing", name, data, str(folder)]
    done = subprocess.run(command, capture_output=True, check=False)
    try:
        return msgspec.json.decode(done.stdout.splitlines()[-1], type=Row)
    except (IndexError, msgspec.DecodeError):
        words = done.stderr.decode(errors="replace").strip().splitlines() or ["no answer"]
        return Row(name, data, 1.0, 0.0, 0.0, 0, error=words[-1])


def bench(folder: Path, size_bytes: int, num_steps: int) -> Bench:
    """Train if nothing is there, then measure every way on every checkpoint.

    With a size, tensors are repeated until files are that large.
    """
    from instride.bench.trained import enlarge, write_checkpoints

    loss = None
    if not (folder / "frozen-next.pt").exists():
        loss = write_checkpoints(folder, num_layers=4, width=288, num_steps=num_steps)
    rows = []
    for data in WIDTHS:
        with tempfile.TemporaryDirectory(dir=folder, prefix=".bench-") as inner:
            here = Path(inner)
            for when in ("base", "next"):
                source = folder / f"{data}-{when}.pt"
                if size_bytes:
                    enlarge(source, here / f"{data}-{when}.safetensors", size_bytes)
                else:
                    (here / source.name).hardlink_to(source)
            rows += [run(name, data, here) for name in (OURS, *RIVALS, DCP)]
            pack(next(here.glob(f"{data}-base.*")))
            rows.append(run(OURS_DELTA, data, here))
    return Bench(rows, loss, num_threads())


if __name__ == "__main__":
    asked, checkpoint, where = sys.argv[1:]
    sys.stdout.buffer.write(msgspec.json.encode(measure(asked, checkpoint, Path(where))) + b"\n")
