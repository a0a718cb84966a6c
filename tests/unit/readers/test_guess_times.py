"""Which of the times in an unknown log are those of steps, and in which unit."""

from __future__ import annotations

from itertools import accumulate, pairwise
from math import isnan

import pytest

from instride.steps.model import Pauses, Sampling
from tests.unit.readers.guessing import read, record, records


def test_a_duration_of_all_steps_between_is_divided_by_them() -> None:
    seconds = [50.0, 52.5, 49.0, 51.0, 50.5, 90.0, 50.0, 51.5]
    clock = accumulate(seconds)
    lines = [
        f"2025-03-01 10:{int(t) // 60:02}:{t % 60:06.3f} step {n * 100} loss 2.5 took {s:.1f} s"
        for n, (t, s) in enumerate(zip(clock, seconds, strict=True), 1)
    ]
    run = read(lines)
    assert list(run.seconds) == pytest.approx([s / 100 for s in seconds])
    assert run.dialect.sampling is Sampling.AVERAGE
    assert run.notes[0].facts["between"] == 1


def test_milliseconds_without_a_unit_are_found_out_by_the_clock() -> None:
    lines = [f"10:00:{n * 0.5:06.3f} step {n} loss 2.5 time {500 + n % 3}.5" for n in range(30)]
    run = read(lines)
    assert run.seconds[3] == pytest.approx(0.5005)
    facts = run.notes[0].facts
    assert (facts["unit"], facts["time"], facts["time_at"]) == ("milliseconds", "time", "after")


def test_a_duration_that_the_clock_contradicts_is_not_used() -> None:
    lines = [f"10:00:{n:06.3f} step {n} loss 2.5 queue time {40 + n % 7} s" for n in range(30)]
    run = read(lines)
    assert all(isnan(seconds) for seconds in run.seconds)
    assert [after - before for before, after in pairwise(run.wall)] == pytest.approx([1.0] * 29)


def test_the_time_until_the_end_is_not_that_of_a_step() -> None:
    lines = [
        f"2025-03-01 10:{n // 6:02}:{n % 6 * 10:02},000 INFO: Iters: {10 * n}/9000 || Loss: 5.7 || "
        f"Cost Time: 0:{n // 6:02}:{n % 6 * 10:02} || Estimated Time: 4:{47 - n // 6:02}:{n % 7:02}"
        for n in range(60)
    ]
    run = read(lines)
    assert all(isnan(seconds) for seconds in run.seconds)
    assert [after - before for before, after in pairwise(run.wall)] == pytest.approx([10.0] * 59)


def test_hours_and_minutes_are_never_milliseconds() -> None:
    lines = [f"10:00:{n:06.3f} step {n} loss 2.5 time 0:16:{30 + n % 20}" for n in range(30)]
    assert all(isnan(seconds) for seconds in read(lines).seconds)


def test_averages_are_not_trusted_beside_a_clock() -> None:
    lines = [
        f"step {n} loss 2.5 total {n * 0.5 + 3:.1f} s avg {3 / (n + 1) + 0.5:.3f} s"
        for n in range(30)
    ]
    run = read(lines)
    assert all(isnan(seconds) for seconds in run.seconds)
    assert run.wall[1] - run.wall[0] == pytest.approx(0.5)
    assert not run.clock_is_absolute


def test_a_clock_that_starts_with_the_process_is_its_own() -> None:
    lines = [f"[00:{n // 60:02}:{n % 60:02}] step {n} loss 2.5" for n in range(1, 90)]
    run = read(lines)
    assert not run.clock_is_absolute
    assert run.clock_resolution_s == 1.0
    assert list(run.wall[:3]) == [1.0, 2.0, 3.0]


def test_a_clock_that_starts_with_the_process_starts_anew_with_the_next_one() -> None:
    lines = [f"[0{n // 60}:{n % 60:02}:00] step {n} loss 2.5" for n in range(1, 200)]
    run = read([*lines, *(line.replace("step ", "step 1") for line in lines[100:102]), *lines[:2]])
    assert list(run.wall[-2:]) == [60.0, 120.0]


def test_a_restart_on_another_machine_is_read_on() -> None:
    lines = [f"2025-03-01 10:00:{n:02} [longhostname7] step {n} loss 2.5" for n in range(30)]
    other = [line.replace("longhostname7", "node8").replace("10:", "11:") for line in lines]
    assert len(read([*lines, *other], learnt_from=lines)) == 60


def test_whole_seconds_are_said_to_be_coarse() -> None:
    lines = [f"2025-03-01 10:{n // 60:02}:{n % 60:02} step {n} loss 2.5" for n in range(90)]
    run = read(["2025-03-01 09:59:30 hello", *lines, "2025-03-01 10:05:00 bye"])
    assert run.clock_resolution_s == 1.0
    assert run.first_clock is not None
    assert run.wall[0] - run.first_clock.wall == 30.0
    assert [end.wall - run.wall[-1] for end in run.ends] == [211.0]


def test_pauses_that_are_stated_but_not_in_the_durations_are_recognised() -> None:
    lines = [*records(0, 9), "saved checkpoint in 30.0 s", *records(10, 19)]
    assert read(lines).dialect.pauses is Pauses.NONE
    lines[11] = record(10, 30.5)
    assert read(lines).dialect.pauses is Pauses.SAME


def test_steps_without_any_time_are_found_so_that_this_can_be_said() -> None:
    lines = [f"Epoch [1/5], Step [{n * 100}/6000], Loss: {3 - n / 50:.4f}" for n in range(1, 30)]
    run = read(lines)
    assert list(run.step) == [n * 100 for n in range(1, 30)]
    assert all(isnan(value) for value in (*run.seconds, *run.wall))
    assert not run.notes[0].facts.keys() & {"time", "elapsed", "stamp", "clock"}
