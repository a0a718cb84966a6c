"""The table of `instride bench pack`, on the screen and as Markdown."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path

import click

from instride.bench.bars import Bar
from instride.bench.pack_bars import BYTES, SHARE, pack_bars
from instride.bench.packing import Bench, Row

HEADS = ("data", "way", "ratio", "pack", "unpack", "pack, CPU", "unpack, CPU", "peak")
MEANINGS = (
    "ratio: bytes that are left, of one. pack, unpack: MB/s from file to file, fsync included; "
    "CPU: MB for each second of all cores together. peak: MB of memory of the process, Python "
    "included. Ours and zstd -1: medians of three rounds in turns.",
    "fp32, bf16: weights. adam: weights and both moments. frozen: a twentieth of what is saved "
    "changes. adapters: a twentieth of the parameters is trained, and their moments are saved too, "
    "so that a seventh of the file changes. delta: against the same training ten steps before.",
)


def print_bench(bench: Bench) -> None:
    click.echo(describe(bench))
    click.echo()
    table = [HEADS, *(cells(row) for row in bench.rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for line in table:
        left = line[0].ljust(widths[0]) + " " + line[1].ljust(widths[1])
        right = (cell.rjust(width + 2) for cell, width in zip(line[2:], widths[2:], strict=True))
        click.echo(left + "".join(right))
    click.echo()
    for note in notes(bench):
        click.echo(note)
    click.echo()
    for bar in pack_bars(bench):
        click.echo(f"  {bar.what:<44} {verdict(bar)}")


def write_record(bench: Bench, path: str, command: str, day: datetime.date) -> None:
    """Write a page for the repository: what was measured, where, when, and by which command."""
    lines = [
        "# Ways of making checkpoints smaller",
        "",
        f"{describe(bench)} {day:%Y-%m-%d}.",
        "",
        f"    {command}",
        "",
        _markdown(HEADS),
        _markdown(["---", "---"] + ["--:"] * (len(HEADS) - 2)),
        *(_markdown(cells(row)) for row in bench.rows),
        "",
        *(f"- {note}" for note in notes(bench)),
        "",
        "| promise | measured |",
        "|---|---|",
        *(_markdown([bar.what, verdict(bar)]) for bar in pack_bars(bench)),
    ]
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _markdown(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def describe(bench: Bench) -> str:
    here = bench.machine
    return (
        f"Checkpoints of a small GPT, of {bench.num_bytes / 1e6:.0f} MB at the most; "
        f"{bench.num_threads} threads on {here.cores} cores, {here.cpu}, {here.filesystem}; "
        f"{here.system}, Python {here.python}, torch {here.torch}; load {here.load:.1f} at the "
        "start."
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


def verdict(bar: Bar) -> str:
    word = "kept" if bar.is_kept else "missed"
    return f"{_show(bar.measured, bar.unit)}, at most {_show(bar.limit, bar.unit)}: {word}"


def _show(value: float, unit: str) -> str:
    if unit == BYTES:
        return f"{value / 1e6:.0f} MB"
    return f"{value:.3f}" if unit == SHARE else f"{value:.2f} x"
