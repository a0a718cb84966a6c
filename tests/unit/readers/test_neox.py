"""GPT-NeoX: averages that include pauses, restarts without a checkpoint, DeepSpeed's clock."""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan
from pathlib import Path
from statistics import median

import pytest

from instride.steps.model import EventKind, Run
from instride.steps.readers.megatron import Megatron
from instride.steps.readers.neox import GptNeoX
from instride.steps.reading import read_with
from instride.steps.source import Source
from tests.unit.readers.reading import kinds, run_of

LAUNCH = "-------------------- arguments --------------------"
DAY_S = 1_767_225_600.0


def read(lines: Iterable[str]) -> Run:
    return run_of(GptNeoX, lines)


def record(iteration: int, ms: float = 1300.6) -> str:
    return (
        f" samples/sec: {72e3 / ms:.3f} | iteration {iteration:8d}/   11000 | "
        f"elapsed time per iteration (ms): {ms:.1f} | learning rate: 2.727E-04 | "
        "approx flops per GPU: 89.1TFLOPS | lm_loss: 1.016136E+01 | "
        "number of skipped iterations:   0 | number of nan iterations:   0 |"
    )


def deepspeed(second: int, text: str) -> str:
    return f"[2026-01-01 00:00:{second:02},250] [INFO] [logging.py:96:log_dist] [Rank 0] {text}"


def test_records_give_steps_and_averages() -> None:
    run = read([record(10, 1950.3), record(20)])
    assert list(run.step) == [10, 20]
    assert list(run.seconds) == pytest.approx([1.9503, 1.3006])
    assert all(isnan(wall) for wall in run.wall)


def test_the_time_of_a_step_is_the_one_that_deepspeed_prints_for_it() -> None:
    lines = [
        deepspeed(5, "step=10, skipped=0, lr=[1e-4], mom=[(0.9, 0.95)]"),
        "steps: 10 loss: 10.2 iter time (s): 1.300 samples/sec: 55.385",
        record(10),
        record(20),
        deepspeed(31, "step=29, skipped=0, lr=[1e-4], mom=[(0.9, 0.95)]"),
        record(30),
    ]
    run = read(lines)
    assert run.wall[0] == DAY_S + 5.25
    assert all(isnan(wall) for wall in run.wall[1:])


def test_the_time_in_front_of_a_record_goes_first() -> None:
    run = read(["2026-01-01T00:00:07Z " + record(10)])
    assert run.wall[0] == DAY_S + 7


def test_evaluations_and_saves_stand_before_the_record_that_holds_them() -> None:
    lines = [
        record(1000),
        deepspeed(8, "[Torch] Checkpoint global_step1000 is about to be saved!"),
        deepspeed(9, "Saving model checkpoint: /ckpt/global_step1000/mp_rank_00.pt"),
        "-" * 90,
        " validation results at iteration 1000 | lm_loss value: 2.5E+00 | ppl value: 1.2E+01 | ",
        "-" * 90,
        record(1010),
        " test results at the end of training for test data | lm_loss value: 2.5E+00 | ",
    ]
    run = read(lines)
    assert kinds(run) == [(EventKind.SAVE, 1), (EventKind.EVAL, 1), (EventKind.EVAL, 2)]
    assert [event.step for event in run.events] == [None, 1000, None]
    assert run.events[0].wall == DAY_S + 8.25


def test_launches_are_counted_by_their_arguments_also_those_that_never_train() -> None:
    trained = [
        LAUNCH,
        "NeoXArgs.configure_distributed_args() using world size: 2 and model-parallel size: 1 ",
        "> initializing torch distributed ...",
        "Unable to load checkpoint.",
        "Loading checkpoint and starting from iteration 0",
    ]
    run = read([*trained, record(10), record(20), LAUNCH, *trained, record(10)])
    assert kinds(run) == [
        (EventKind.START, 0),
        (EventKind.LOAD, 0),
        (EventKind.START, 2),
        (EventKind.START, 2),
        (EventKind.LOAD, 2),
    ]
    assert list(run.step) == [10, 20, 10]


def test_without_the_launcher_the_trainer_announces_itself() -> None:
    run = read([record(10), "> initializing torch distributed ...", record(10)])
    assert kinds(run) == [(EventKind.START, 1)]


def test_a_time_of_an_earlier_process_is_not_taken_for_the_same_step_of_a_later_one() -> None:
    step = deepspeed(5, "step=10, skipped=0, lr=[1e-4], mom=[(0.9, 0.95)]")
    run = read([step, record(10), LAUNCH, record(10)])
    assert run.wall[0] == DAY_S + 5.25
    assert isnan(run.wall[1])


def test_a_step_that_only_deepspeed_printed_before_a_crash_lends_no_time() -> None:
    step = deepspeed(5, "step=10, skipped=0, lr=[1e-4], mom=[(0.9, 0.95)]")
    assert isnan(read([step, LAUNCH, record(10)]).wall_at(0))


@pytest.mark.parametrize(
    "line",
    [
        " samples/sec: 55.358 | iteration       20/   11000 | elapsed time per iteration (ms",
        " samples/sec: 55.358 | iteration       20/   11000 | elapsed time per iteration (ms): 13",
        f" samples/sec: 55.3 | iteration {'9' * 5000}/ 9 | elapsed time per iteration (ms): 1.3 |",
        " samples/sec: | iteration 20/ 9 | elapsed time per iteration (ms): 1.3 |",
        "samples/sec: 1 | " * 3800,
        "the results at hand: validation results at noon",
        "steps: 10 loss: 10.2 iter time (s): 1.300 samples/sec: 55.385",
        "[x] step=, skipped=",
        Megatron.dialect.sample,
    ],
)
def test_other_and_mangled_lines_are_no_records(line: str) -> None:
    assert not GptNeoX.sniff(line)
    assert not len(read([line]))


def test_rates_and_durations_of_nan_are_survived() -> None:
    line = record(10).replace("samples/sec: 55.359", "samples/sec: nan").replace("1300.6", "nan")
    assert "nan |" in line
    assert GptNeoX.sniff(line)
    assert isnan(read([line]).seconds[0])


def test_the_prefix_of_a_rank_does_not_matter() -> None:
    assert list(read(["node1: " + record(10)]).step) == [10]


def test_a_real_log_with_three_launches_keeps_both_trainings(cases: Path) -> None:
    run = read_with(GptNeoX, [Source(str(cases / "gpt-neox-moe-restarts.txt"))])
    assert list(run.step) == [*range(10, 51, 10), *range(10, 81, 10)]
    assert median(run.seconds) == pytest.approx(1.3052)
    assert (run.seconds[0], run.seconds[5]) == pytest.approx((1.9503, 1.5645))
    assert kinds(run) == [
        (EventKind.START, 0),
        (EventKind.LOAD, 0),
        (EventKind.START, 5),
        (EventKind.START, 5),
        (EventKind.LOAD, 5),
    ]
