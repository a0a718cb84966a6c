"""Lines of torch and DeepSpeed, in the log of whatever trainer."""

from __future__ import annotations

from pathlib import Path

import pytest

from instride.steps.model import EventKind, Run
from instride.steps.reading import read_with, reader_named
from instride.steps.source import Source
from tests.unit.readers.drawing import draw

RECOMPILED = (
    "W0102 torch/_dynamo/convert_frame.py:906] torch._dynamo hit config.recompile_limit (8)"
)
FLUSHED = (
    "[WARNING] [stage3.py:1850:step] 2 pytorch allocator cache flushes since last step. this "
    "happens when there is high memory pressure"
)

RECORDS = {
    "nanogpt": [f"iter {n}: loss 2.5, time 100.00ms, mfu 30.00%" for n in range(60)],
    "deepspeed": [
        f"[2026-01-02 03:04:{n:02},000] [INFO] [logging.py:96:log_dist] [Rank 0] step={n}, "
        "skipped=0, lr=[0.1], mom=[[0.9, 0.9]]"
        for n in range(1, 60)
    ],
    "torchtitan": [
        f"[titan] 2026-01-02 03:04:{n:02},000 - root - INFO - step: {n}  loss:  2.5000  "
        "memory:  1.00GiB(1.00%)  tps: 1,000  mfu: 30.00%"
        for n in range(1, 60)
    ],
    "tqdm": [draw(n, 100, n, "train") for n in range(60)],
}


def read(path: Path, name: str, lines: list[str]) -> Run:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_with(reader_named(name), [Source(str(path))])


def told(run: Run, kind: EventKind) -> list[tuple[int, int]]:
    """Line of each event, and of the record that follows it."""
    return [(e.line, run.line[e.at]) for e in run.events if e.kind is kind]


@pytest.mark.parametrize("name", RECORDS)
@pytest.mark.parametrize(
    ("line", "kind"), [(RECOMPILED, EventKind.COMPILE), (FLUSHED, EventKind.FLUSH)]
)
def test_every_reader_hears_them(tmp_path: Path, name: str, line: str, kind: EventKind) -> None:
    records = RECORDS[name]
    run = read(tmp_path / "log", name, [*records[:30], line, *records[30:]])
    assert told(run, kind) == [(31, 32)]
    assert len(run) == len(read(tmp_path / "log", name, records))


def test_retries_are_counted_since_the_start_and_told_when_they_grow(tmp_path: Path) -> None:
    lines = []
    for number, record in enumerate(RECORDS["torchtitan"]):
        retries = 3 if number < 40 else 5
        if number >= 20:
            lines.append(
                f"[titan] 2026-01-02 - WARNING - {retries} CUDA memory allocation retries."
            )
        lines.append(record)
    run = read(tmp_path / "log", "torchtitan", lines)
    assert [run.step[e.at] for e in run.events if e.kind is EventKind.FLUSH] == [21, 41]


def test_a_record_that_quotes_such_a_line_is_a_record(tmp_path: Path) -> None:
    records = [f"iter {n}: loss 2.5, time 100.00ms, mfu 30.00% {FLUSHED}" for n in range(60)]
    run = read(tmp_path / "log", "nanogpt", records)
    assert len(run) == 60
    assert told(run, EventKind.FLUSH) == []
