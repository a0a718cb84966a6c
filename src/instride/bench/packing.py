"""What packing makes of real checkpoints, beside other ways: the answer of `instride bench pack`.

From file to file with every way, each in a process of its own (`python -m instride.bench.packing`),
on as many threads as instride takes.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from instride.bench.codecs import RIVALS
from instride.bench.machine import machine
from instride.bench.report import Machine
from instride.bench.trips import Dcp, InPieces, Ours, Trip
from instride.framed.blocks import num_threads
from instride.pack.packing import pack

SCHEMA = 1
OURS, OURS_DELTA, DCP = "instride", "instride delta", "dcp zstd"
PLAIN_ZSTD = "zstd -1"
WIDTHS = {"fp32": 4, "adam": 4, "bf16": 2, "frozen": 4, "adapters": 4}
"""The checkpoints, and the bytes of their floats: weights, weights with the state of Adam, weights
in bfloat16, and two trainings in which most is frozen: all but a twentieth of what is saved, and
all but a twentieth of the parameters, whose moments are saved too."""
MOSTLY_FROZEN = ("frozen", "adapters")
"""What only a delta makes small."""
NUM_ROUNDS = 9
"""Of ours and of plain zstd, whose speeds are compared; others are measured once."""


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
    pack_bytes_per_cpu_s: float = 0.0
    """By the time of all cores together: what else runs counts for less."""
    unpack_bytes_per_cpu_s: float = 0.0


class Bench(msgspec.Struct, frozen=True):
    """What `--json` prints."""

    rows: list[Row]
    loss: float | None
    """What the training reached; null where checkpoints were there already."""
    num_threads: int
    machine: Machine
    num_bytes: int
    """Of the largest file; tensors were repeated where it is more than was trained."""
    adapters_floor: float
    """What of the checkpoint with a twentieth of the parameters trained no code of single bytes
    gets below."""
    schema: int = SCHEMA


def measure(name: str, data: str, folder: Path) -> Row:
    """Go there and back with one way; what comes back must be what went in."""
    (source,) = folder.glob(f"{data}-next.*")
    with tempfile.TemporaryDirectory(dir=folder, prefix=".bench-") as inner:
        trip = _trip(name, data, source, Path(inner))
        start_s, start_cpu_s = time.perf_counter(), time.process_time()
        packed_bytes = trip.there()
        middle_s, middle_cpu_s = time.perf_counter(), time.process_time()
        trip.back()
        end_s, end_cpu_s = time.perf_counter(), time.process_time()
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
        pack_bytes_per_cpu_s=size / max(middle_cpu_s - start_cpu_s, 1e-9),
        unpack_bytes_per_cpu_s=size / max(end_cpu_s - middle_cpu_s, 1e-9),
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
    from instride.bench.entropy import floor_of_delta
    from instride.bench.trained import write_checkpoints

    loss = None
    here = machine(str(folder))
    if not (folder / "adapters-next.pt").exists():
        loss = write_checkpoints(folder, num_layers=4, width=288, num_steps=num_steps)
    rows: list[Row] = []
    most_bytes = 0
    for data in WIDTHS:
        with tempfile.TemporaryDirectory(dir=folder, prefix=".bench-") as inner:
            most_bytes = max(most_bytes, _lay_out(folder, Path(inner), data, size_bytes))
            rows += _measure_all(Path(inner), data)
    floor = floor_of_delta(folder / "adapters-base.pt", folder / "adapters-next.pt")
    return Bench(rows, loss, num_threads(), here, most_bytes, floor)


def _lay_out(folder: Path, here: Path, data: str, size_bytes: int) -> int:
    """Put a pair of checkpoints into a folder of its own; the bytes of the second."""
    from instride.bench.trained import enlarge

    for when in ("base", "next"):
        source = folder / f"{data}-{when}.pt"
        if size_bytes:
            enlarge(source, here / f"{data}-{when}.safetensors", size_bytes)
        else:
            (here / source.name).hardlink_to(source)
    return next(here.glob(f"{data}-next.*")).stat().st_size


def _measure_all(here: Path, data: str) -> list[Row]:
    """Ours and plain zstd in turns, then the others, then ours against a base."""
    turns = [[run(name, data, here) for name in (OURS, PLAIN_ZSTD)] for _ in range(NUM_ROUNDS)]
    rows = [_middle(each) for each in zip(*turns, strict=True)]
    others = [] if data in MOSTLY_FROZEN else [*(n for n in RIVALS if n != PLAIN_ZSTD), DCP]
    rows += [run(name, data, here) for name in others]
    pack(next(here.glob(f"{data}-base.*")))
    return [*rows, run(OURS_DELTA, data, here)]


def _middle(rows: Sequence[Row]) -> Row:
    """The same way several times: the median of each speed, and the highest peak."""
    if any(row.error for row in rows):
        return next(row for row in rows if row.error)
    speeds = {
        name: statistics.median(getattr(row, name) for row in rows)
        for name in Row.__struct_fields__
        if name.endswith("_s")
    }
    return msgspec.structs.replace(
        rows[0], peak_bytes=max(row.peak_bytes for row in rows), **speeds
    )


if __name__ == "__main__":
    asked, checkpoint, where = sys.argv[1:]
    sys.stdout.buffer.write(msgspec.json.encode(measure(asked, checkpoint, Path(where))) + b"\n")
