"""TorchTitan: rates and timestamps; saves slow the next record, validations are in none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from math import isnan
from pathlib import Path
from statistics import median

import pytest

from instride.steps.model import EventKind, Run
from instride.steps.readers.torchtitan import TorchTitan
from instride.steps.reading import read_with
from instride.steps.source import Source
from tests.unit.readers.reading import events, run_of

EPOCH_S = 1_767_225_600.0
TOKENS = 2048
"""Of one step on one device, in the logs made here."""


def read(lines: Iterable[str]) -> Run:
    return run_of(TorchTitan, lines)


def said(at_s: float, text: str, prefix: str = "[rank0]:[titan] ") -> str:
    moment = datetime.fromtimestamp(EPOCH_S + at_s, UTC)
    stamp = f"{moment:%Y-%m-%d %H:%M:%S},{moment.microsecond // 1000:03d}"
    return f"{prefix}{stamp} - root - INFO - {text}"


def step(at_s: float, step: int, rate: float, unit: str = "tps") -> str:
    return said(
        at_s,
        f"step: {step:2}  loss: {3.2:8.5f}  grad_norm: {0.5:7.4f}  memory:  9.91GiB(31.60%)  "
        f"{unit}: {round(rate):,}  tflops: 7.86  mfu: 12.30%",
    )


def quiet(
    first: int, count: int, start_s: float, step_s: float = 2.0, tokens: int = TOKENS
) -> Iterator[str]:
    """Records of ten steps each, from `first` on; the first one ends ten steps after `start_s`."""
    for index in range(count):
        at_s = start_s + 10 * step_s * (index + 1)
        yield step(at_s, first + 10 * index, tokens / step_s)


def test_durations_come_from_the_rate_once_the_clock_tells_the_tokens_of_a_step() -> None:
    run = read(quiet(10, 6, 0.0))
    assert list(run.step) == [10, 20, 30, 40, 50, 60]
    assert list(run.seconds) == pytest.approx([2.0] * 6, rel=1e-3)
    assert run.wall[0] == pytest.approx(EPOCH_S + 20.0)
    assert run.wall[5] - run.wall[0] == pytest.approx(100.0)


def test_the_first_record_of_a_process_gets_its_duration_from_its_rate() -> None:
    lines = [step(50.0, 2510, TOKENS / 3.0), *quiet(2520, 5, 50.0)]
    assert read(lines).seconds[0] == pytest.approx(3.0, rel=1e-3)


def test_a_first_record_of_a_single_step_counts_as_one_step() -> None:
    lines = [step(8.0, 1, TOKENS / 8.0), step(26.0, 10, TOKENS / 2.0), *quiet(20, 4, 26.0)]
    assert list(read(lines).seconds) == pytest.approx([8.0] + [2.0] * 5, rel=3e-3)


def test_older_versions_print_words_a_second() -> None:
    lines = [step(20.0 * i, 10 * i, 1024.0, "wps") for i in range(1, 6)]
    assert all(TorchTitan.sniff(line) for line in lines)
    assert list(read(lines).seconds) == pytest.approx([2.0] * 5)


def test_without_agreement_between_rate_and_clock_there_are_only_timestamps() -> None:
    lines = [step(20.0 * i, 10 * i, rate) for i, rate in enumerate([900, 700, 400, 1500, 90], 1)]
    run = read(lines)
    assert all(isnan(seconds) for seconds in run.seconds)
    assert run.wall[4] - run.wall[3] == pytest.approx(20.0)


def test_two_intervals_are_too_few_to_calibrate() -> None:
    assert all(isnan(seconds) for seconds in read(quiet(10, 3, 0.0)).seconds)
    assert not any(isnan(seconds) for seconds in read(quiet(10, 4, 0.0)).seconds)


def test_a_restart_with_another_batch_is_calibrated_on_its_own() -> None:
    lines = [
        *quiet(10, 5, 0.0),
        said(300.0, "Training starts at step 51"),
        *quiet(60, 5, 310.0, step_s=4.0, tokens=2 * TOKENS),
    ]
    assert list(read(lines).seconds) == pytest.approx([2.0] * 5 + [4.0] * 5, rel=1e-3)


def test_a_process_too_short_to_calibrate_borrows_from_the_others() -> None:
    lines = [
        step(20.0, 10, TOKENS / 2.0),
        said(300.0, "Training starts at step 11"),
        *quiet(20, 5, 310.0),
    ]
    assert list(read(lines).seconds) == pytest.approx([2.0] * 6, rel=1e-3)


def test_a_rate_of_zero_is_no_duration() -> None:
    lines = [*quiet(10, 5, 0.0), step(120.0, 60, 0)]
    assert isnan(read(lines).seconds[5])


def test_a_save_is_one_event_with_the_seconds_it_states() -> None:
    lines = [
        *quiet(10, 4, 0.0),
        said(80.1, "Saving the checkpoint (or staging if async is enabled)."),
        said(86.4, "[GC] GC collection invoked by checkpointer. took 0.01 seconds"),
        said(
            86.5, "Finished saving the checkpoint (or staging if async is enabled)in 6.36 seconds."
        ),
        said(86.6, "Checkpointer is deleting /ckpt/step-20."),
        said(90.0, "Checkpointer deleted /ckpt/step-20 in 3.40 seconds."),
        step(106.5, 50, TOKENS / 2.65),
    ]
    run = read(lines)
    assert events(run) == [(EventKind.SAVE, 4, 6.36)]
    assert run.seconds[4] == pytest.approx(2.65, rel=3e-3)


@pytest.mark.parametrize(
    ("begin", "end"),
    [
        (
            "Saving the checkpoint (or staging if async is enabled).",
            "Finished saving the checkpoint (or staging if async is enabled) in 12.75 seconds.",
        ),
        ("Saving the checkpoint.", "Finished saving the checkpoint in 12.75 seconds."),
        ("Staging the checkpoint.", "Finished staging the checkpoint in 12.75 seconds."),
        (
            "Saving a full checkpoint at last step, step 40.",
            "Last step checkpoint completed in 12.75s",
        ),
    ],
)
def test_newer_save_lines_are_read(begin: str, end: str) -> None:
    run = read([*quiet(10, 4, 0.0), said(80.0, begin), said(92.8, end)])
    assert events(run) == [(EventKind.SAVE, 4, 12.75)]
    assert run.ends[0].wall == pytest.approx(EPOCH_S + 92.8)


def test_saves_between_two_records_add_up_and_other_ranks_do_not() -> None:
    save = [said(81.0, "Saving the checkpoint."), said(81.0, "Saving the checkpoint.")]
    done = [said(83.0, "Finished saving the checkpoint in 2.00 seconds.")] * 2
    run = read([*quiet(10, 4, 0.0), *save, *done, *save, *done])
    assert events(run) == [(EventKind.SAVE, 4, 4.0)]


def test_waiting_for_an_asynchronous_staging_belongs_to_its_save() -> None:
    lines = [
        *quiet(10, 4, 0.0),
        said(80.0, "Saving the checkpoint (or staging if async is enabled)."),
        said(
            80.5, "Finished saving the checkpoint (or staging if async is enabled)in 0.50 seconds."
        ),
        said(82.0, "Checkpointer waited staging 0.25 seconds."),
    ]
    assert events(read(lines)) == [(EventKind.SAVE, 4, 0.75)]


def test_deletions_in_the_loop_of_old_versions_are_cleanups() -> None:
    run = read([*quiet(10, 2, 0.0), said(41.0, "Deleting old checkpoint outputs/step-10")])
    assert events(run) == [(EventKind.CLEANUP, 2, None)]


def test_a_validation_is_no_step_and_lasts_since_the_record_of_its_step() -> None:
    lines = [
        *quiet(10, 4, 0.0),
        said(96.2, "validate step: 40  loss:  3.1871  memory:  9.91GiB(31.60%)  tps: 0"),
        *quiet(50, 1, 96.2),
    ]
    assert not TorchTitan.sniff(lines[4])
    run = read(lines)
    assert list(run.step) == [10, 20, 30, 40, 50]
    assert [(e.kind, e.at, e.step) for e in run.events] == [(EventKind.EVAL, 4, 40)]
    assert run.events[0].seconds == pytest.approx(16.2, abs=2e-3)
    assert run.seconds[4] == pytest.approx(2.0, rel=1e-3)


def test_a_save_before_the_validation_is_not_counted_as_validation() -> None:
    lines = [
        *quiet(10, 4, 0.0),
        said(80.0, "Saving the checkpoint."),
        said(90.0, "Finished saving the checkpoint in 10.00 seconds."),
        said(95.0, "validate step: 40  loss:  3.1871  memory:  9.91GiB(31.60%)  tps: 12"),
    ]
    seconds = {event.kind: event.seconds for event in read(lines).events}
    assert seconds == {EventKind.SAVE: 10.0, EventKind.EVAL: pytest.approx(5.0, abs=2e-3)}


def test_a_validation_after_a_step_that_was_not_printed_has_no_duration() -> None:
    line = said(88.0, "validate step: 45  loss:  3.1871  memory:  9.91GiB(31.60%)  tps: 12")
    assert events(read([*quiet(10, 4, 0.0), line])) == [(EventKind.EVAL, 4, None)]


def test_several_banners_announce_one_process_and_set_up_lines_have_a_clock() -> None:
    lines = [
        said(0.0, "torchtitan version: 0.2.0"),
        said(1.0, "Building device mesh with parallelism: pp=1, dp_shard=8"),
        said(1.5, "Building device mesh with parallelism: pp=1, dp_shard=8", "[rank1]:[titan] "),
        said(3.0, "Loading the checkpoint from /ckpt/step-2500."),
        said(5.2, "Finished loading the checkpoint in 2.16 seconds."),
        said(6.0, "Training starts at step 2501"),
        *quiet(2510, 4, 6.0),
    ]
    run = read(lines)
    assert events(run) == [(EventKind.START, 0, None), (EventKind.LOAD, 0, 2.16)]
    assert run.first_clock is not None
    assert (run.first_clock.wall, run.first_clock.line) == (EPOCH_S, 1)


def test_a_banner_that_comes_again_is_a_crash_loop() -> None:
    lines = [
        *quiet(10, 2, 0.0),
        said(50.0, "Training completed"),
        *(said(at_s, "Starting job: debug") for at_s in (100.0, 101.0, 160.0, 220.0)),
        said(230.0, "Training starts at step 11"),
        *quiet(20, 2, 230.0),
    ]
    run = read(lines)
    assert [(e.kind, e.at, e.line) for e in run.events] == [
        (EventKind.START, 2, 4),
        (EventKind.START, 2, 6),
        (EventKind.START, 2, 7),
    ]
    assert run.ends[0].wall - EPOCH_S == 50.0


def test_the_lines_of_other_ranks_are_dropped_and_durations_stay_in_place() -> None:
    lines = [
        line.replace("[rank0]", f"[rank{rank}]")
        for index, line in enumerate([*quiet(10, 4, 0.0), *quiet(50, 4, 80.0, step_s=4.0)])
        for rank in ((0, 1, 2) if index else (0,))
    ]
    run = read(lines)
    assert list(run.step) == [10, 20, 30, 40, 50, 60, 70, 80]
    assert run.num_duplicates == 14
    assert list(run.seconds) == pytest.approx([2.0] * 4 + [4.0] * 4, rel=1e-3)


@pytest.mark.parametrize(
    "line",
    [
        "step: 10",
        "step: 10  loss",
        "[titan] step:  loss:  3.2  tps: 5",
        f"step: {'9' * 5000}  loss:  3.2  tps: 5  x",
        "step: 10 | loss: 3.2 | tps: 5",
        "validate step: 10  loss:  3.1871  memory:  9.91GiB(31.60%)  tps: 0",
        "step: 1  loss: " * 4000,
        "- INFO - Finished saving the checkpoint in soon",
        "2026-99-99 99:99:99,999 - root - INFO - Training starts at step x",
    ],
)
def test_other_and_mangled_lines_are_no_records(line: str) -> None:
    assert not TorchTitan.sniff(line)
    assert all(isnan(seconds) for seconds in read([line]).seconds)


def test_a_record_cut_before_its_rate_keeps_its_time() -> None:
    lines = [*quiet(10, 4, 0.0), step(100.0, 50, 1024)[: step(100.0, 50, 1024).index("  tflops")]]
    whole, cut = read(lines), read([*lines[:-1], lines[-1][:-8]])
    assert whole.seconds[4] == pytest.approx(2.0, rel=1e-3)
    assert isnan(cut.seconds[4])
    assert cut.wall[4] == whole.wall[4]


def test_a_loss_of_nan_and_a_rate_beyond_all_bounds_are_survived() -> None:
    broken = step(100.0, 50, 1024).replace(" 3.20000", "nan").replace("1,024", "9" * 500)
    run = read([*quiet(10, 4, 0.0), broken])
    assert list(run.step) == [10, 20, 30, 40, 50]
    assert isnan(run.seconds[4])


def test_a_real_log_has_its_saves_and_validations_to_the_second(cases: Path) -> None:
    run = read_with(TorchTitan, [Source(str(cases / "torchtitan-ckpt-next-interval.log"))])
    assert (len(run), run.step[0], run.step[-1]) == (265, 2510, 5150)
    assert median(run.seconds) == pytest.approx(1.966, abs=0.005)
    assert run.seconds[0] / median(run.seconds) == pytest.approx(1.58, abs=0.02)
    total = {
        kind: sum(event.seconds or 0.0 for event in run.events if event.kind is kind)
        for kind in (EventKind.SAVE, EventKind.EVAL, EventKind.LOAD)
    }
    assert total[EventKind.SAVE] == pytest.approx(86.57)
    assert total[EventKind.EVAL] == pytest.approx(421.6, abs=0.1)
    assert total[EventKind.LOAD] == pytest.approx(2.16)
    slow = [step for step, s in zip(run.step, run.seconds, strict=True) if s > 1.2 * 1.966]
    assert slow == [2510, 3010, 3510, 4010, 4510, 5010]
    assert sum(event.kind is EventKind.START for event in run.events) == 1
