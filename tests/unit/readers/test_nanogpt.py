"""nanoGPT: iterations every k-th step, evaluation and save inside the printed time."""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan
from pathlib import Path
from statistics import median

import pytest

from instride.steps.model import EventKind, Run
from instride.steps.readers.nanogpt import NanoGPT
from instride.steps.reading import read_with
from instride.steps.source import Source
from tests.unit.readers.reading import kinds, run_of


def read(lines: Iterable[str]) -> Run:
    return run_of(NanoGPT, lines)


def training(first: int, last: int, every: int = 10, ms: float = 120.0) -> list[str]:
    """Iterations `first` to `last`, with an evaluation and a save at multiples of 100."""
    lines = []
    for step in range(first, last + 1, every):
        if step % 100 == 0:
            lines.append(f"step {step}: train loss 3.2110, val loss 3.3005")
            lines.append("saving checkpoint to out")
        took = ms + (5000.0 if step % 100 == 0 else 0.0)
        lines.append(f"iter {step}: loss {4 - step / 1000:.4f}, time {took:.2f}ms, mfu 21.40%")
    return lines


def test_every_record_gives_its_step_line_and_seconds() -> None:
    run = read(training(10, 40))
    assert list(run.step) == [10, 20, 30, 40]
    assert list(run.line) == [1, 2, 3, 4]
    assert list(run.seconds) == pytest.approx([0.12] * 4)
    assert all(isnan(wall) for wall in run.wall)


def test_an_evaluation_and_a_save_stand_before_the_record_that_holds_their_time() -> None:
    run = read(training(90, 110))
    assert kinds(run) == [(EventKind.EVAL, 1), (EventKind.SAVE, 1)]
    assert run.events[0].step == 100
    assert run.step[1] == 100
    assert run.seconds[1] == pytest.approx(5.12)


@pytest.mark.parametrize(
    ("line", "seconds"),
    [
        ("iter 7: loss 2.3100, time 135.20ms", 0.1352),
        ("iter 7: loss 2.3100, time 135.20 ms, mfu 3.10%", 0.1352),
        ("iter 7: loss nan, time 135.20ms, mfu -100.00%", 0.1352),
        ("iter 7: loss 2.3100, time: 135.20ms", 0.1352),
        ("iter 7: loss 2.3100, ppl 10.0745, time 135.20ms, mfu 3.10%", 0.1352),
        ("iter 7: loss 2.3100, lr 2.00e-05, grad_norm 1.1197, time 135.20ms", 0.1352),
        ("iter 7: loss 2.3100, bpc: 1.2000, time 135.20ms/step, mfu 3.10%", 0.1352),
        ("iter   7: loss 2.3100, time 1.35s", 1.35),
        ("iter 7: loss 2.3100, time 135.20ms, mfu 3.10%, tk/s 4120.11", 0.1352),
    ],
)
def test_the_lines_of_known_forks_are_records(line: str, seconds: float) -> None:
    run = read([line])
    assert NanoGPT.sniff(line)
    assert list(run.step) == [7]
    assert run.seconds[0] == pytest.approx(seconds)


def test_a_time_that_is_no_number_leaves_a_record_without_seconds() -> None:
    run = read(["iter 5: loss nan, time nanms, mfu nan%", "iter 6: loss nan, time infms"])
    assert list(run.step) == [5, 6]
    assert all(isnan(seconds) for seconds in run.seconds)


@pytest.mark.parametrize(
    "line",
    [
        "iter 7: loss 2.3100, time 135.2",
        "iter 7: loss 2.3100, time 135.20m",
        "iter 7: loss 2.3100, time ms",
        "iter : loss 2.3100, time 135.20ms",
        "iter 7: loss 2.3100, time 1.2.3ms",
        "iter 7 step 2: loss 2.1, iter time: 310.22ms",
        "iter 99999999999999999999: loss 2.3100, time 135.20ms",
        "step 7: train loss 2.3100, val loss 2.4000",
    ],
)
def test_other_and_broken_lines_are_no_records(line: str) -> None:
    assert not NanoGPT.sniff(line)
    assert len(read([line])) == 0


def test_a_record_cut_off_by_the_next_one_does_not_lend_it_its_step() -> None:
    run = read(["iter 10: loss 2.3, time 13iter 20: loss 2.2, time 140.00ms, mfu 3.10%"])
    assert list(run.step) == [20]
    assert run.seconds[0] == pytest.approx(0.14)


@pytest.mark.parametrize(
    "line",
    [
        "step 1000: train loss 4.5, val loss 4.4",
        " nstep 1000: train loss 4.5, val loss 4.4",
        "step 1000: train loss nan, val loss nan",
        "step 1000, tokens 8,192,000: train loss 4.5, val loss 4.4, lr 1e-4",
        "step 1000: train loss 2.50 (PPL: 12.2, BPC: 3.61) | val loss 2.60 (PPL: 13.5)",
        "step 1000: val loss 4.4000",
    ],
)
def test_evaluations_are_found_in_mangled_lines_and_those_of_forks(line: str) -> None:
    run = read([line])
    assert [(event.kind, event.step) for event in run.events] == [(EventKind.EVAL, 1000)]


@pytest.mark.parametrize(
    "line",
    [
        "saving checkpoint to out",
        "saving best checkpoint to out/best.pt",
        "saved best checkpoint to out",
        "Saving checkpoint to out",
    ],
)
def test_saves_are_found_by_any_of_their_names(line: str) -> None:
    assert kinds(read([line])) == [(EventKind.SAVE, 0)]


def test_a_resumed_run_has_a_launch_and_a_load_where_it_begins_again() -> None:
    setup = ["tokens per iteration will be: 12,288", "Resuming training from out"]
    run = read([*training(210, 230), *setup, "compiling the model... (takes a ~minute)"])
    run_on = read([*training(210, 230), *setup, *training(210, 220)])
    assert kinds(run) == [(EventKind.START, 3), (EventKind.LOAD, 3), (EventKind.COMPILE, 3)]
    assert list(run_on.step) == [210, 220, 230, 210, 220]


def test_a_banner_printed_by_every_rank_is_one_launch() -> None:
    banner = ["tokens per iteration will be: 12,288", "Initializing a new model from scratch"]
    run = read([*banner * 4, *training(10, 20), *banner * 4, *training(10, 20)])
    assert kinds(run) == [(EventKind.START, 0), (EventKind.START, 2)]


@pytest.mark.parametrize(
    "line",
    [
        "Initializing a new model from scratch",
        "Initializing from OpenAI GPT-2 weights: gpt2",
        "Resuming training from out",
    ],
)
def test_old_versions_without_a_banner_still_show_their_launch(line: str) -> None:
    assert kinds(read([line]))[0] == (EventKind.START, 0)


def test_a_timestamp_before_a_line_is_the_time_of_its_step_and_of_its_events() -> None:
    run = read(
        [
            "2025-03-01T10:00:00.500Z tokens per iteration will be: 12,288",
            "2025-03-01T10:00:58.000Z step 0: train loss 4.2, val loss 4.2",
            "2025-03-01T10:01:00.250Z [rank0]: iter 0: loss 4.2000, time 1300.00ms, mfu 1.00%",
            "2025-03-01T10:01:30.000Z saving checkpoint to out-2024-01-01_00:00:00",
        ]
    )
    start = 1740823200.5
    assert run.first_clock is not None
    assert run.first_clock.wall == pytest.approx(start)
    assert run.wall[0] == pytest.approx(start + 59.75)
    assert [event.wall for event in run.events] == pytest.approx(
        [start, start + 57.5, start + 89.5]
    )
    assert [end.wall for end in run.ends] == pytest.approx([start + 89.5])


def test_a_real_log_with_nan_losses_is_read_to_its_end(cases: Path) -> None:
    run = read_with(NanoGPT, [Source(str(cases / "nanogpt-termux-nan.log"))])
    assert list(run.step) == list(range(0, 451, 5))
    assert median(run.seconds) == pytest.approx(1.4449, abs=1e-4)
    evals = [event.step for event in run.events if event.kind is EventKind.EVAL]
    saves = [run.step[event.at] for event in run.events if event.kind is EventKind.SAVE]
    assert evals == [0, 100, 200, 300, 400]
    assert saves == [100, 200, 300, 400]


def test_a_real_log_of_two_speeds_keeps_its_mangled_evaluation(cases: Path) -> None:
    run = read_with(NanoGPT, [Source(str(cases / "nanogpt-two-regimes.txt"))])
    assert (len(run), run.step[0], run.step[-1]) == (1999, 10, 20000)
    evals = [event.step for event in run.events if event.kind is EventKind.EVAL]
    assert 1000 in evals
    assert sum(event.kind is EventKind.SAVE for event in run.events) >= 9
