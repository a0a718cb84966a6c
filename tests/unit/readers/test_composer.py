"""Composer: blocks of indented values, a clock whose unit nobody prints."""

from __future__ import annotations

import pytest

from instride.steps.model import EventKind, Run
from instride.steps.readers.composer import Composer
from tests.unit.readers.drawing import read as read_as
from tests.unit.readers.reading import events

HOUR_S = 3600.0


def read(lines: list[str]) -> Run:
    return read_as(Composer, lines)


def block(
    batch: int,
    train_s: float,
    val_s: float = 0.0,
    rate: float | None = None,
    head: str | None = None,
    unit_s: float = HOUR_S,
    names: str = "time",
) -> list[str]:
    lines = [head or f"[batch={batch}/100]:", f"\t Train time/batch: {batch - 1}"]
    lines.append("\t Train loss/train/total: 8.4213")
    if rate is not None:
        lines.append(f"\t Train throughput/batches_per_sec: {rate:.4f}")
        lines.append(f"\t Train throughput/device/batches_per_sec: {rate / 8:.4f}")
    lines.append(f"\t Train {names}/train: {train_s / unit_s:.4f}")
    lines.append(f"\t Train {names}/val: {val_s / unit_s:.4f}")
    lines.append(f"\t Train {names}/total: {(train_s + val_s) / unit_s:.4f}")
    return lines


def run_of(num_batches: int, step_s: float, unit_s: float, with_rate: bool = True) -> Run:
    lines = []
    for batch in range(1, num_batches + 1):
        rate = 1 / step_s if with_rate else None
        lines += block(batch, batch * step_s, rate=rate, unit_s=unit_s)
    return read(lines)


def test_the_clock_is_the_total_in_hours() -> None:
    run = run_of(20, 36.0, HOUR_S, with_rate=False)
    assert list(run.step) == list(range(1, 21))
    assert list(run.wall) == pytest.approx([36.0 * n for n in range(1, 21)])
    assert run.clock_is_absolute is False
    assert run.clock_resolution_s == pytest.approx(0.36)
    assert list(run.line)[:2] == [1, 7]


@pytest.mark.parametrize("unit_s", [1.0, 60.0, 3600.0, 86400.0])
def test_the_rate_tells_which_unit_it_is(unit_s: float) -> None:
    run = run_of(20, 50.0, unit_s)
    assert list(run.wall)[-1] == pytest.approx(1000.0, rel=0.02)
    assert run.clock_resolution_s == pytest.approx(unit_s * 1e-4)


def test_the_names_of_old_versions_are_read() -> None:
    lines = [line for n in range(1, 6) for line in block(n, 36.0 * n, names="wall_clock")]
    assert list(read(lines).wall)[-1] == pytest.approx(180.0)


def test_an_evaluation_has_a_clock_of_its_own() -> None:
    lines = block(1, 36.0) + block(2, 72.0)
    lines += ["[Eval batch=1/50] Eval on eval data", "[Eval batch=50/50] Eval on eval data:"]
    lines += ["\t Eval metrics/eval/LanguageCrossEntropy: 7.1"]
    lines += block(3, 108.0, val_s=90.0)
    run = read(lines)
    assert [event[:2] for event in events(run)] == [(EventKind.EVAL, 2)]
    assert run.events[0].seconds == pytest.approx(90.0)
    assert run.events[0].line == 14
    assert list(run.wall)[-1] == pytest.approx(198.0)


def test_steps_count_on_through_the_epochs() -> None:
    lines = []
    for epoch in (1, 2):
        for batch in (5, 10):
            done = (epoch - 1) * 10 + batch
            lines += block(done, 36.0 * done, head=f"[epoch={epoch}][batch={batch}/10]:")
    assert list(read(lines).step) == [5, 10, 15, 20]


def test_where_the_head_counts_tokens_the_values_count_batches() -> None:
    lines = []
    for batch in (10, 20, 30):
        lines += block(batch, 36.0 * batch, head=f"[token={batch * 65536}/9999999]:")
    assert list(read(lines).step) == [10, 20, 30]
    assert len(read(["[token=65536/9999999]:"])) == 0


def test_saves_and_launches_are_marked() -> None:
    saving = "2025-01-01 10:00:00,123: rank0[1][MainThread]: INFO: Saving checkpoint to ./ep0-ba2"
    lines = ["Starting training...", *block(1, 36.0), saving, *block(2, 90.0)]
    assert events(read(lines)) == [(EventKind.START, 0, None), (EventKind.SAVE, 1, None)]


def test_what_is_said_of_checkpoints_when_debugging_is_read_too() -> None:
    prefix = "2025-01-01 10:00:00,123: rank0[1][MainThread]: "
    loading = f"{prefix}INFO: composer.trainer.trainer: Loading checkpoint from ./latest-rank0.pt"
    saved = f"{prefix}DEBUG: composer.callbacks.checkpoint_saver: Checkpoint locally saved to ./ep0"
    validating = f"{prefix}DEBUG: composer.utils.checkpoint: Checkpoint at ./ep0 is valid."
    lines = [loading, *block(1, 36.0), saved, *block(2, 90.0), validating]
    assert events(read(lines)) == [(EventKind.LOAD, 0, None), (EventKind.SAVE, 1, None)]


def test_without_the_speed_monitor_timestamps_in_front_are_the_clock() -> None:
    lines = [f"2025-01-01T10:00:{10 * n:02}Z [batch={n}/100]:" for n in range(1, 5)]
    run = read(lines)
    assert run.clock_is_absolute is True
    assert run.wall[3] - run.wall[0] == 30.0


def test_mangled_values_are_passed_over() -> None:
    lines = [*block(1, 36.0), "\t Train time/total: nan", "\t Train time/total: 1.2.", "[batch=x]:"]
    run = read([*lines, *block(2, 72.0)])
    assert list(run.step) == [1, 2]


@pytest.mark.parametrize(
    "line",
    ["[Eval batch=1/50] Eval on eval data", "config[batch=3]", "x = y[batch=3/4]z", "[batch=/4]"],
)
def test_other_lines_are_not_recognised(line: str) -> None:
    assert not Composer.sniff(line)
