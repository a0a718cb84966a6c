"""What `instride bench pack` has to tell."""

from __future__ import annotations

from instride.bench.pack_bars import pack_bars
from instride.bench.packing import Bench, Row
from instride.cli.render.bench_page import Page, describe_machine, show_bytes

HEADS = ("data", "way", "ratio", "pack", "unpack", "pack, CPU", "unpack, CPU", "peak")
MEANINGS = (
    "ratio: bytes that are left, of one. pack, unpack: MB/s from file to file, fsync included; "
    "CPU: MB for each second of all cores together. peak: MB of memory of the process, Python "
    "included. Ours and zstd -1: medians of nine rounds in turns.",
    "fp32, bf16: weights. adam: weights and both moments. frozen: a twentieth of what is saved "
    "changes. adapters: a twentieth of the parameters is trained, and their moments are saved too, "
    "so that a seventh of the file changes. delta: against the same training ten steps before.",
)


def page_of(bench: Bench) -> Page:
    return Page(
        "Ways of making checkpoints smaller",
        f"Checkpoints of a small GPT, of {show_bytes(bench.num_bytes)} at the most, "
        f"{bench.num_threads} threads. {describe_machine(bench.machine)}",
        HEADS,
        [cells(row) for row in bench.rows],
        notes(bench),
        pack_bars(bench),
        num_names=2,
    )


def cells(row: Row) -> tuple[str, ...]:
    if row.error is not None:
        return (row.data, f"{row.name}: {row.error}", *[""] * (len(HEADS) - 2))
    speeds = (
        row.pack_bytes_per_s,
        row.unpack_bytes_per_s,
        row.pack_bytes_per_cpu_s,
        row.unpack_bytes_per_cpu_s,
    )
    ratio = f"{row.ratio:.3f}"
    return (row.data, row.name, ratio, *(f"{each / 1e6:.0f}" for each in (*speeds, row.peak_bytes)))


def notes(bench: Bench) -> list[str]:
    """What one has to know to read the table."""
    return [
        *MEANINGS,
        "adapters: no code of single bytes gets below "
        f"{bench.adapters_floor:.3f}: what changes is that much, and most of it is mantissas",
    ]
