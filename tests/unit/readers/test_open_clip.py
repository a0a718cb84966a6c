"""open_clip: samples instead of steps, averages with a data column, records cut by a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan
from pathlib import Path
from statistics import median

import pytest

from instride.steps.model import EventKind, Run, Sampling
from instride.steps.readers.open_clip import OpenClip
from instride.steps.reading import detect, read_with
from instride.steps.source import Source
from tests.unit.readers.reading import run_of

BATCH = 4096
BATCHES = 250


def read(lines: Iterable[str]) -> Run:
    return run_of(OpenClip, lines)


def record(epoch: int, batch: int, seconds: float = 0.5, data: float = 0.02, at: int = 0) -> str:
    samples, total = batch * BATCH, BATCHES * BATCH
    return (
        f"2026-01-02,03:{at // 60:02}:{at % 60:02} | INFO | Train Epoch: {epoch} "
        f"[{samples:>7}/{total} ({100 * samples / total:.0f}%)] Data (t): {data:.3f} "
        f"Batch (t): {seconds:.3f}, {BATCH / seconds:#g}/s, {BATCH / seconds / 8:#g}/s/gpu "
        f"LR: 0.000500 Logit Scale: 14.286 Contrastive_loss: 5.1234 (5.2345) Loss: 5.1 (5.2)"
    )


def cut(line: str, width: int) -> list[str]:
    """A line as a terminal of that width shows it: blanks at the end of a row are gone."""
    return [line[i : i + width].rstrip() for i in range(0, len(line), width)]


def test_samples_become_steps_that_count_on_through_the_epochs() -> None:
    places = [1, 101, 201, 250]
    run = read(record(epoch, batch) for epoch in (0, 1) for batch in places)
    assert list(run.step) == [1, 101, 201, 250, 251, 351, 451, 500]
    assert list(run.seconds) == [0.5] * 8
    assert list(run.data) == [0.02] * 8
    assert run.dialect.sampling is Sampling.AVERAGE


def test_timestamps_are_the_wall_clock_in_whole_seconds() -> None:
    run = read([record(0, 1, at=5), record(0, 101, at=57)])
    assert run.wall[1] - run.wall[0] == 52
    assert run.clock_resolution_s == 1.0


@pytest.mark.parametrize("width", [78, 85, 90, 96, 100, 104, 110, 130, 200])
def test_a_record_cut_by_a_terminal_of_any_width_is_one_record(width: int) -> None:
    records = [record(0, batch, 0.5 + batch / 1000) for batch in (1, 101, 201)]
    run = read(piece for line in records for piece in cut(line, width))
    assert list(run.step) == [1, 101, 201]
    assert list(run.seconds) == pytest.approx([0.501, 0.601, 0.701])
    assert list(run.data) == [0.02] * 3
    num_pieces = [len(cut(line, width)) for line in records]
    assert list(run.line) == [1, 1 + num_pieces[0], 1 + num_pieces[0] + num_pieces[1]]


def test_a_record_that_never_ends_is_none_and_the_next_one_is_read() -> None:
    torn = record(0, 101)[:70]
    run = read([record(0, 1), torn, "Traceback (most recent call last):", "", record(0, 201)])
    assert list(run.step) == [1, 201]


def test_a_record_cut_off_by_the_next_one_is_not_mixed_with_it() -> None:
    run = read([record(0, 1), record(0, 101)[:75] + record(0, 201, 0.9)])
    assert list(run.step) == [1, 201]
    assert run.seconds[1] == pytest.approx(0.9)


def test_losses_may_come_before_the_times() -> None:
    line = record(0, 101).replace("] Data", "] Loss: 3.210 (3.3) Data")
    run = read([record(0, 1), line])
    assert list(run.step) == [1, 101]


def test_the_first_version_prints_every_hundredth_step_alone() -> None:
    lines = [
        f"2021-08-01,10:00:{10 + i:02} | INFO | Train Epoch: 0 [{i * 100 * 256}/1000000 ({i}%)]\t"
        f"Loss: 4.321000\tData (t) 0.010\tBatch (t) 0.{200 + i}\tLR: 0.000500\tlogit_scale 2.659"
        for i in range(4)
    ]
    run = read(lines)
    assert list(run.step) == [0, 100, 200, 300]
    assert list(run.seconds) == pytest.approx([0.200, 0.201, 0.202, 0.203])
    assert run.dialect.sampling is Sampling.EVERY_KTH


def test_evaluations_epochs_launches_and_loads_are_events() -> None:
    run = read(
        [
            "2026-01-02,02:59:00 | INFO | Running in distributed mode with multiple processes. "
            "Device: cuda:0.Process (global: 0, local 0), total 8.",
            "2026-01-02,02:59:30 | INFO | => resuming checkpoint 'logs/epoch_1.pt' (epoch 1)",
            "2026-01-02,03:00:00 | INFO | Start epoch 1",
            record(1, 1, at=5),
            record(1, 250, at=60),
            "2026-01-02,03:01:00 | INFO | Starting zero-shot imagenet.",
            "2026-01-02,03:01:30 | INFO | Eval Epoch: 2 imagenet-zeroshot-val-top1: 0.5123",
            "2026-01-02,03:01:31 | INFO | Start epoch 2",
            record(2, 1, at=95),
        ]
    )
    assert [(event.kind, event.at) for event in run.events] == [
        (EventKind.START, 0),
        (EventKind.LOAD, 0),
        (EventKind.EPOCH, 0),
        (EventKind.EVAL, 2),
        (EventKind.EPOCH, 2),
    ]
    assert run.first_clock is not None
    assert run.wall[0] - run.first_clock.wall == 65


def test_times_that_are_no_numbers_are_unknown() -> None:
    run = read([record(0, 1), record(0, 101).replace("0.500,", "nan,")])
    assert isnan(run.seconds[1])


def test_other_trainers_with_the_same_words_are_not_taken() -> None:
    assert not OpenClip.sniff("Train Epoch: 1 [640/60000 (1%)]\tLoss: 2.310000")
    assert not OpenClip.sniff("Eval Epoch: 1 [512 / 10000]\tClip Loss: 1.2")


def test_the_real_log_has_a_data_stall_in_every_step(cases: Path) -> None:
    source = Source(str(cases / "openclip-data-stall.txt"))
    assert detect(source.lines()) is OpenClip
    run = read_with(OpenClip, [source])
    assert len(run) == 135
    assert set(map(int.__sub__, run.step[1:], run.step[:-1])) == {1}
    assert median(run.seconds) == pytest.approx(2.42, abs=0.01)
    assert sum(run.data) / sum(run.seconds) == pytest.approx(0.36, abs=0.01)
