"""What packing promises, and the page that says whether it was kept."""

from __future__ import annotations

import datetime
from pathlib import Path

import msgspec
import pytest

from instride.bench.pack_bars import pack_bars
from instride.bench.packing import OURS, OURS_DELTA, PLAIN_ZSTD, Bench, Row
from instride.bench.report import Machine
from instride.cli.render.bench_pack import page_of
from instride.cli.render.bench_page import print_page, write_page

HERE = Machine(
    cores=2, cpu="a CPU", memory_bytes=10**9, filesystem="ext4", system="Linux", python="3.14",
    torch="2.9", load=0.1,
)  # fmt: skip


def row(name: str, data: str, ratio: float, speed: float = 400e6, peak: int = 10**8) -> Row:
    return Row(name, data, ratio, speed, speed, peak)


def bench(*rows: Row) -> Bench:
    return Bench(list(rows), 3.1, 2, HERE, 200_000_000, 0.1)


KEPT = bench(
    row(OURS, "fp32", 0.834),
    row(PLAIN_ZSTD, "fp32", 0.926),
    row("zipnn", "fp32", 0.82),
    row(OURS_DELTA, "fp32", 0.65),
    row(OURS, "bf16", 0.668, 250e6),
    row(PLAIN_ZSTD, "bf16", 0.78, 250e6),
    row(OURS_DELTA, "frozen", 0.041),
    Row("lz4", "fp32", 1.0, 0.0, 0.0, 0, error="is not installed"),
)


def missed(found: Bench) -> list[str]:
    return [bar.what for bar in pack_bars(found) if not bar.is_kept]


def with_row(changed: Row) -> Bench:
    rows = [
        changed if (each.name, each.data) == (changed.name, changed.data) else each
        for each in KEPT.rows
    ]
    return msgspec.structs.replace(KEPT, rows=rows)


def test_promises_that_were_kept() -> None:
    assert missed(KEPT) == []
    assert len(pack_bars(KEPT)) == 11


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        (row(OURS_DELTA, "frozen", 0.061), "frozen, instride delta: ratio"),
        (row(OURS, "fp32", 0.845), "fp32: ratio, by that of zipnn x 1.03"),
        (row(OURS, "fp32", 0.834, 350e6), "fp32: packing, by the time of zstd -1"),
        (row(OURS, "fp32", 0.834, peak=300 << 20), "memory"),
        (row(PLAIN_ZSTD, "bf16", 0.66, 200e6), "bf16: ratio, by that of zstd -1"),
    ],
)
def test_a_promise_that_was_not_kept_is_named(changed: Row, what: str) -> None:
    assert what in missed(with_row(changed))


def test_the_page_has_every_row_every_promise_and_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    day = datetime.date(2026, 1, 2)
    write_page(page_of(KEPT), tmp_path / "a.md", "instride bench pack", day)
    page = (tmp_path / "a.md").read_text()
    assert "    instride bench pack\n" in page
    assert "2026-01-02" in page
    assert "| fp32 | instride | 0.834 | 400 |" in page
    assert "lz4: is not installed" in page
    assert page.count(": kept |") == 11
    assert "gets below 0.100" in page
    print_page(page_of(KEPT))
    assert capsys.readouterr().out.count(": kept") == 11
