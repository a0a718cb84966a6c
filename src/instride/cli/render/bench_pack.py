"""The table of `instride bench pack`."""

from __future__ import annotations

import click

from instride.bench.packing import Bench, Row

HEAD = f"{'data':8}{'way':16}{'ratio':>8}{'pack MB/s':>11}{'unpack MB/s':>13}{'peak MB':>9}"


def print_bench(answer: Bench) -> None:
    click.echo(HEAD)
    for row in answer.rows:
        click.echo(_line(row))


def _line(row: Row) -> str:
    start = f"{row.data:8}{row.name:16}"
    if row.error is not None:
        return f"{start}  {row.error}"
    return (
        f"{start}{row.ratio:8.4f}{row.pack_bytes_per_s / 1e6:11.0f}"
        f"{row.unpack_bytes_per_s / 1e6:13.0f}{row.peak_bytes / 1e6:9.0f}"
    )
