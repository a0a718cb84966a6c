"""Megatron-LM: averages; old versions count pauses in the next record, new ones in none."""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan
from pathlib import Path
from statistics import median

import pytest

from instride.steps.model import EventKind, Pauses, Run
from instride.steps.readers.megatron import Megatron
from instride.steps.readers.neox import GptNeoX
from instride.steps.reading import read_with
from instride.steps.source import Source
from tests.unit.readers.reading import events_with_steps, run_of

DAY_S = 1_767_225_600.0


def read(lines: Iterable[str]) -> Run:
    return run_of(Megatron, lines)


def clock(at_s: float, digits: int = 6) -> str:
    whole, rest = divmod(at_s, 1)
    text = f"2026-01-01 {int(whole) // 3600:02}:{int(whole) // 60 % 60:02}:{int(whole) % 60:02}"
    return text + f"{rest:.{digits}f}"[1:] if digits else text


def record(iteration: int, ms: float = 1380.6, stamp: str = "") -> str:
    own = f" [{stamp}]" if stamp else ""
    return (
        f"{own} iteration {iteration:8d}/    1000 | consumed samples: {iteration * 4:12d} | "
        f"elapsed time per iteration (ms): {ms:.1f} | learning rate: 1.500E-04 | "
        "global batch size:     4 | lm loss: 7.974370E+00 | loss scale: 16384.0 |"
    )


def test_old_records_have_durations_and_no_times() -> None:
    run = read([record(10, 2152.2), record(20), record(30)])
    assert list(run.step) == [10, 20, 30]
    assert list(run.seconds) == pytest.approx([2.1522, 1.3806, 1.3806])
    assert all(isnan(wall) for wall in run.wall)
    assert run.dialect.pauses is Pauses.NEXT


@pytest.mark.parametrize(("digits", "resolution_s"), [(0, 1.0), (3, 0.0), (6, 0.0)])
def test_new_records_have_a_time_and_stop_the_clock_for_pauses(
    digits: int, resolution_s: float
) -> None:
    run = read([record(10, stamp=clock(60.25, digits)), record(20, stamp=clock(74.5, digits))])
    assert run.wall[0] == pytest.approx(DAY_S + 60.25, abs=0.25 + 1e-3)
    assert run.dialect.pauses is Pauses.NONE
    assert run.dialect.name == "megatron"
    assert run.clock_resolution_s == resolution_s


@pytest.mark.parametrize("prefix", ["2026-01-01T00:01:00Z ", "[default7]:2026-01-01 00:01:00 "])
def test_a_time_in_front_of_an_old_record_does_not_make_it_a_new_one(prefix: str) -> None:
    run = read([prefix + record(10)])
    assert run.wall[0] == DAY_S + 60.0
    assert run.dialect.pauses is Pauses.NEXT


def test_the_class_keeps_its_dialect_when_a_run_changes_its_own() -> None:
    read([record(10, stamp=clock(60.0))])
    assert Megatron.dialect.pauses is Pauses.NEXT


def test_the_deepspeed_fork_prints_seconds_and_tokens() -> None:
    line = (
        " iteration       20/  143051 | consumed samples:         1280 | consumed tokens:      "
        "2621440 | elapsed time per iteration (s): 1.38 | learning rate: 3.000E-05 | samples per "
        "second: 46.377 | TFLOPs: 89.01 |"
    )
    assert Megatron.sniff(line)
    run = read([line])
    assert (run.step[0], run.seconds[0]) == (20, 1.38)


def test_records_of_the_first_versions_are_read() -> None:
    line = " iteration      100/  320000 | elapsed time per iteration (ms): 514.2 | learning rate |"
    assert Megatron.sniff(line)
    assert list(read([line]).seconds) == pytest.approx([0.5142])


def test_an_evaluation_belongs_to_the_record_that_follows() -> None:
    lines = [
        record(100),
        "-" * 100,
        " validation loss at iteration 100 | lm loss value: 8.0E+00 | lm loss PPL: 3.0E+03 | ",
        "-" * 100,
        record(110, 1564.1),
        " validation loss at the end of training for val data | lm loss value: 8.0E+00 | ",
    ]
    run = read(lines)
    assert events_with_steps(run) == [
        (EventKind.EVAL, 1, None, 100),
        (EventKind.EVAL, 2, None, None),
    ]


def test_evaluation_timers_of_one_pause_add_up() -> None:
    evaluation = [
        "(min, max) time across ranks (ms):",
        "    evaluate .......................................: (9900.10, 10000.00)",
        " validation loss at iteration 100 on validation set | lm loss value: 8.0E+00 | ",
    ]
    run = read([record(100, stamp=clock(0.5)), *evaluation, *evaluation])
    assert events_with_steps(run) == [(EventKind.EVAL, 1, 20.0, 100)]


@pytest.mark.parametrize(
    "timer",
    [
        ["time (ms) | save-checkpoint: 12500.00"],
        [
            "(min, max) time across ranks (ms):",
            "    save-checkpoint ................................: (12000.10, 12500.00)",
        ],
        [
            "max time across ranks (ms):",
            "    save-checkpoint ................................: 12500.00",
        ],
    ],
)
def test_a_save_gets_its_seconds_from_the_timer(timer: list[str]) -> None:
    lines = [
        record(200),
        "saving checkpoint at iteration     200 to /ckpt",
        "  successfully saved checkpoint at iteration     200 to /ckpt",
        *timer,
        record(210),
    ]
    assert events_with_steps(read(lines)) == [(EventKind.SAVE, 1, 12.5, 200)]


def test_an_asynchronous_save_counts_once_with_what_it_blocked() -> None:
    lines = [
        record(200, stamp=clock(0.5)),
        f"[{clock(1.0)}] saving checkpoint at iteration     200 to /ckpt in torch_dist format",
        f"  [{clock(2.0)}] scheduled an async checkpoint save at iteration     200 to /ckpt",
        "    save-checkpoint ................................: (990.10, 1100.00)",
        record(210, stamp=clock(14.0)),
        f"  [{clock(30.0)}] successfully saved checkpoint from iteration     200 to /ckpt "
        "[ t 1/2, p 1/1 ]",
        record(220, stamp=clock(44.0)),
    ]
    run = read(lines)
    assert events_with_steps(run) == [(EventKind.SAVE, 1, 1.1, 200)]
    assert run.ends == []


def test_closing_work_is_bounded_by_the_last_time_in_the_log() -> None:
    lines = [
        record(1000, stamp=clock(10.0)),
        f"[{clock(11.0)}] saving checkpoint at iteration    1000 to /ckpt in torch format",
        f"  [{clock(21.0)}] successfully saved checkpoint from iteration    1000 to /ckpt",
        f"[after training is done] datetime: {clock(22.0, 0)} ",
    ]
    assert [end.wall for end in read(lines).ends] == [DAY_S + 22.0]


def test_a_launch_is_announced_once_and_has_a_clock() -> None:
    lines = [
        "using world size: 16, data-parallel-size: 1, tensor-model-parallel size: 4 ",
        "using world size: 16, data-parallel-size: 1, tensor-model-parallel size: 4 ",
        "  checkpoint_activations .......................... True",
        f"[after megatron is initialized] datetime: {clock(4.0, 0)} ",
        "WARNING: could not find the metadata file /ckpt/latest_checkpointed_iteration.txt ",
        "    will not load any checkpoints and will start from random",
        "time (ms) | load-checkpoint: 0.35",
        f"[before the start of training step] datetime: {clock(9.0, 0)} ",
        record(10),
    ]
    run = read(lines)
    assert events_with_steps(run) == [
        (EventKind.START, 0, None, None),
        (EventKind.LOAD, 0, None, None),
    ]
    assert run.events[0].line == 1
    assert run.first_clock is not None
    assert run.first_clock.wall == DAY_S + 4.0


def test_every_launch_counts_also_those_that_never_train() -> None:
    launch = [
        "using world size: 8, data-parallel size: 8, context-parallel size: 1",
        f"[after megatron is initialized] datetime: {clock(4.0)} ",
        " loading distributed checkpoint from /ckpt at iteration 20",
    ]
    run = read([*launch, record(10), record(20), *launch, *launch, record(30)])
    starts = [(e.at, e.line) for e in run.events if e.kind is EventKind.START]
    assert starts == [(0, 1), (2, 6), (2, 9)]
    assert sum(event.kind is EventKind.LOAD for event in run.events) == 3


def test_a_log_that_begins_after_the_banner_still_has_a_launch() -> None:
    line = f"[after megatron is initialized] datetime: {clock(4.0, 0)} "
    assert events_with_steps(read([line, record(10)])) == [(EventKind.START, 0, None, None)]


def test_records_that_go_back_are_kept_for_the_ledger_to_judge() -> None:
    steps = [10, 20, 30, 40, 50, 60, 10, 20]
    assert list(read(record(step) for step in steps).step) == steps


@pytest.mark.parametrize("prefix", ["0: ", "[rank7]:", "[default0]:"])
def test_prefixes_do_not_matter(prefix: str) -> None:
    assert Megatron.sniff(prefix + record(10))
    assert list(read([prefix + record(10)]).seconds) == pytest.approx([1.3806])


@pytest.mark.parametrize(
    "line",
    [
        " iteration       10/    1000 | consumed samples:           40 | elapsed time per iter",
        " iteration       10/    1000 | elapsed time per iteration (ms): 13",
        " iteration       10/    1000 | elapsed time per iteration (ms): 1.3.8 | x",
        f" iteration {'9' * 5000}/ 1000 | elapsed time per iteration (ms): 1380.6 |",
        "elapsed time per iteration (ms): 1380.6 | iteration       10/    1000 |",
        "iteration 1/ 2 | " * 3000 + "elapsed time per iteration (",
        "saving checkpoint at iteration soon",
        "time (ms) | save-checkpoint: later",
        "[somewhere] datetime: 2026-99-99 99:99:99",
        GptNeoX.dialect.sample,
    ],
)
def test_other_and_mangled_lines_are_no_records(line: str) -> None:
    assert not Megatron.sniff(line)
    assert line == GptNeoX.dialect.sample or not len(read([line]))


def test_a_duration_of_nan_is_survived() -> None:
    run = read([record(10).replace("1380.6", "nan"), record(20)])
    assert list(run.step) == [10, 20]
    assert isnan(run.seconds[0])


def test_a_real_log_of_2021_is_read_whole(cases: Path) -> None:
    run = read_with(Megatron, [Source(str(cases / "megatron-bigscience-n4.out"))])
    assert list(run.step) == list(range(10, 201, 10))
    assert median(run.seconds) == pytest.approx(1.3806)
    assert run.seconds[0] == pytest.approx(2.1522)
    evals = [(e.at, e.step) for e in run.events if e.kind is EventKind.EVAL]
    assert evals == [(10, 100), (20, 200)]
    assert [e.kind for e in run.events[:2]] == [EventKind.START, EventKind.LOAD]
    assert run.first_clock is not None
