"""What a governor decided is found in the journal, by the save that it was decided in."""

from __future__ import annotations

import json
from pathlib import Path

from instride.bench.governed import decisions_by_step
from instride.bench.report import Decided
from instride.writer.journal import journal_path


def line(t: float, kind: str, **fields: object) -> str:
    return json.dumps({"t": t, "kind": kind, **fields})


def governor(t: float, threads: int, duty: float, reason: str, rate: float | None = None) -> str:
    return line(
        t, "governor", threads=threads, bytes_per_s=rate, duty=duty, codec_step=0, is_open=True,
        reason=reason, why="",
    )  # fmt: skip


def journal(store: Path, *lines: str) -> None:
    journal_path(store).parent.mkdir()
    journal_path(store).write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_each_decision_belongs_to_the_save_that_it_came_in(tmp_path: Path) -> None:
    journal(
        tmp_path,
        line(10.0, "start", host="h", trainer_pid=1),
        line(11.0, "step", step=7, s=0.1),
        governor(12.25, 1, 0.5, "unknown-yet", 32e6),
        governor(14.0, 8, 0.93, "plenty"),
        line(12.0, "call", id=1, step=7, s=0.004, waited_s=0.0),  # noted when all is known of it
        line(18.0, "durable", id=1, path="a.pt", bytes=5, s=6.0),
        governor(18.5, 4, 0.8, "within-budget"),  # while it is read back
        line(19.0, "verified", path="a.pt"),
        line(20.0, "call", id=2, step=9, s=0.004, waited_s=0.0),
        governor(21.5, 2, 0.5, "over-budget"),
        line(26.0, "durable", id=2, path="b.pt", bytes=5, s=6.0),
        line(27.0, "start", host="h", trainer_pid=1),
        line(28.0, "call", id=1, step=12, s=0.004, waited_s=0.0),
        '{"t":29.0,"kind":"gov',
    )
    assert decisions_by_step(tmp_path) == {
        7: [
            Decided(0.25, 1, 32e6, 0.5, "unknown-yet"),
            Decided(2.0, 8, None, 0.93, "plenty"),
        ],
        9: [
            Decided(0.0, 4, None, 0.8, "within-budget"),
            Decided(1.5, 2, None, 0.5, "over-budget"),
        ],
        12: [],
    }


def test_a_store_without_a_journal_tells_nothing(tmp_path: Path) -> None:
    assert decisions_by_step(tmp_path) == {}
