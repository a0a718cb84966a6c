"""DeepSpeed: timestamps every few steps, and the averages of the pipeline engine."""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan
from pathlib import Path
from statistics import median

import pytest

from instride.steps.model import EventKind, Run
from instride.steps.readers.deepspeed import DeepSpeed
from instride.steps.readers.megatron import Megatron
from instride.steps.readers.neox import GptNeoX
from instride.steps.reading import read_with
from instride.steps.source import Source
from tests.unit.readers.reading import events, run_of

DAY_S = 1_767_225_600.0


def read(lines: Iterable[str]) -> Run:
    return run_of(DeepSpeed, lines)


def said(at_s: float, text: str, place: str = "logging.py:96:log_dist") -> str:
    minutes, seconds = divmod(int(at_s), 60)
    millis = round(at_s % 1 * 1e3)
    return f"[2026-01-01 00:{minutes:02}:{seconds:02},{millis:03}] [INFO] [{place}] {text}"


def record(step: int, at_s: float) -> str:
    return said(at_s, f"[Rank 0] step={step}, skipped=6, lr=[9.6e-06], mom=[(0.9, 0.95)]")


def timer(step: int, at_s: float) -> str:
    return said(
        at_s,
        f"epoch=0/micro_step={step}/global_step={step}, RunningAvgSamplesPerSec=173.4, "
        "CurrSamplesPerSec=171.9, MemAllocated=3.96GB, MaxMemAllocated=22.95GB",
        "timer.py:199:stop",
    )


def average(step: int, seconds: float) -> str:
    return (
        f"steps: {step} loss: 1.2000 iter time (s): {seconds:.3f} samples/sec: {64 / seconds:.3f}"
    )


def test_records_have_a_time_and_no_duration() -> None:
    run = read([record(10, 7.5), timer(10, 7.53), record(20, 15.0), timer(20, 15.03)])
    assert list(run.step) == [10, 20]
    assert list(run.wall) == [DAY_S + 7.5, DAY_S + 15.0]
    assert all(isnan(seconds) for seconds in run.seconds)


def test_the_line_of_the_first_versions_is_a_record() -> None:
    line = said(7.5, "rank:0 step=10, skipped=0, lr=[0.001], mom=[[0.9, 0.999]]")
    assert DeepSpeed.sniff(line)
    assert list(read([line]).step) == [10]


def test_what_the_engine_says_when_it_is_built_is_no_step() -> None:
    run = read([record(0, 2.0), record(10, 12.0)])
    assert list(run.step) == [10]
    assert run.first_clock is not None
    assert run.first_clock.wall == DAY_S + 2.0


def test_the_average_of_the_pipeline_engine_belongs_to_the_record_of_its_step() -> None:
    run = read([record(10, 7.5), average(10, 0.75), record(20, 15.0), average(20, 0.7)])
    assert list(run.step) == [10, 20]
    assert list(run.seconds) == [0.75, 0.7]
    assert list(run.wall) == [DAY_S + 7.5, DAY_S + 15.0]


def test_the_two_lines_of_a_step_may_come_in_either_order() -> None:
    run = read([average(10, 0.75), record(10, 7.5), average(20, 0.7), record(20, 15.0)])
    assert list(run.step) == [10, 20]
    assert list(run.seconds) == [0.75, 0.7]
    assert list(run.wall) == [DAY_S + 7.5, DAY_S + 15.0]


def test_averages_alone_are_records_too() -> None:
    line = average(10, 0.75).replace("iter time", "moe_loss: 0.0100 iter time")
    assert DeepSpeed.sniff(line)
    run = read([line, average(20, 0.7)])
    assert list(run.seconds) == [0.75, 0.7]
    assert all(isnan(wall) for wall in run.wall)


def test_the_same_step_of_the_next_process_is_another_record() -> None:
    launch = said(100.0, "DeepSpeed info: version=0.14.0, git-hash=unknown, git-branch=unknown")
    run = read([average(10, 0.75), launch, record(10, 120.0)])
    assert list(run.step) == [10, 10]
    assert isnan(run.wall[0])


def test_two_engines_that_step_together_are_one_record_each_step() -> None:
    lines = [
        line
        for step in range(10, 110, 10)
        for line in (record(step, step * 0.75), record(step, step * 0.75 + 0.02))
    ]
    run = read(lines)
    assert list(run.step) == list(range(10, 110, 10))
    assert run.num_duplicates == 10


def test_evaluations_and_epochs_stand_before_the_record_that_follows() -> None:
    lines = [
        "***** Running training *****",
        "***** Evaluating perplexity, Epoch 0/16 *****",
        "ppl: 4998.29",
        "Beginning of Epoch 1/16, Total Micro Batches 460",
        record(10, 7.5),
        "***** Evaluating reward, Epoch 1/16 *****",
        "Evaluating the situation",
        record(20, 23.0),
    ]
    assert events(read(lines)) == [
        (EventKind.EVAL, 0, None),
        (EventKind.EPOCH, 0, None),
        (EventKind.EVAL, 1, None),
    ]


def test_a_save_lasts_from_its_first_to_its_last_line() -> None:
    lines = [
        record(10, 7.5),
        said(8.0, "[Rank 0] [Torch] Checkpoint global_step10 is about to be saved!"),
        said(8.25, "[Rank 0] Saving model checkpoint: /ckpt/global_step10/mp_rank_00.pt"),
        said(8.25, "[Torch] Saving /ckpt/global_step10/mp_rank_00.pt...", "torch_engine.py:1:save"),
        said(20.0, "[Torch] Saved /ckpt/global_step10/mp_rank_00.pt.", "torch_engine.py:3:save"),
        said(20.5, "[Torch] Checkpoint global_step10 is ready now!", "torch_engine.py:9:commit"),
        record(20, 28.0),
        said(28.5, "[Rank 0] Saving model checkpoint: /ckpt/global_step20/mp_rank_00.pt"),
        "saving the final model ...",
    ]
    run = read(lines)
    assert events(run) == [(EventKind.SAVE, 1, 12.5), (EventKind.SAVE, 2, None)]
    assert [end.wall for end in run.ends] == [DAY_S + 28.5]


def test_loading_is_an_event() -> None:
    lines = [
        said(
            1.0, "[Torch] Loading checkpoint from /ckpt/mp_rank_00.pt...", "torch_engine.py:5:load"
        ),
        record(20, 15.0),
        said(20.0, "Unable to find latest file at /ckpt/latest, if trying to load latest"),
    ]
    assert events(read(lines)) == [(EventKind.LOAD, 0, None), (EventKind.LOAD, 1, None)]


def test_every_launch_is_announced_once() -> None:
    launch = [
        said(60.0, "cmd = /usr/bin/python -u -m deepspeed.launcher.launch main.py", "runner.py:1"),
        said(70.0, "[Rank 0] DeepSpeed info: version=0.9.1, git-hash=unknown"),
        said(71.0, "[Rank 0] DeepSpeed info: version=0.9.1, git-hash=unknown"),
    ]
    run = read([record(10, 7.5), *launch, *launch, record(10, 90.0), launch[1], record(20, 99.0)])
    assert events(run) == [
        (EventKind.START, 1, None),
        (EventKind.START, 1, None),
        (EventKind.START, 2, None),
    ]
    assert [event.line for event in run.events] == [2, 5, 9]


def test_set_up_lines_have_a_clock_and_later_ones_do_not_count() -> None:
    overflow = "[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536"
    run = read([said(1.5, overflow), record(10, 7.5), said(9.0, overflow)])
    assert run.first_clock is not None
    assert run.first_clock.wall == DAY_S + 1.5
    assert run.ends == []


@pytest.mark.parametrize(
    "line",
    [
        timer(10, 7.5),
        "[Rank 0] step=10, skip",
        "[Rank 0] step=, skipped=, lr=",
        f"[Rank 0] step={'9' * 5000}, skipped=0, lr=[1e-5]",
        "step=1, skipped=" * 4000,
        "steps: 1 loss: " * 4000 + "iter time (s): ",
        "steps: x loss: 1.2 iter time (s): 0.123 samples/sec: 5",
        "[Torch] Checkpoint",
        "cmd = ls",
        Megatron.dialect.sample,
        GptNeoX.dialect.sample,
    ],
)
def test_other_and_mangled_lines_are_no_records(line: str) -> None:
    assert not DeepSpeed.sniff(line)
    assert not len(read([line]))


def test_an_average_of_nan_is_survived() -> None:
    run = read([record(10, 7.5), average(10, 0.5).replace("0.500", "nan")])
    assert list(run.step) == [10]
    assert isnan(run.seconds[0])


def test_the_prefix_of_a_host_does_not_matter() -> None:
    assert list(read(["worker-0: " + record(10, 7.5)]).wall) == [DAY_S + 7.5]


def test_a_real_log_has_its_epochs_and_evaluations(cases: Path) -> None:
    run = read_with(DeepSpeed, [Source(str(cases / "deepspeed-chat-sft.log"))])
    assert list(run.step) == list(range(10, 7011, 10))
    intervals = [after - before for before, after in zip(run.wall, run.wall[1:], strict=False)]
    assert median(intervals) / 10 == pytest.approx(0.7466, abs=0.001)
    slow = [run.step[i + 1] for i, length in enumerate(intervals) if length > 1.5 * 7.466]
    assert slow == list(range(470, 6911, 460))
    evals = [event.at for event in run.events if event.kind is EventKind.EVAL]
    assert [run.step[at] for at in evals[1:]] == slow
    assert evals[0] == 0
