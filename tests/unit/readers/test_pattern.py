"""Logs read by the user's own patterns."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import isnan
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from instride.errors import BadPatternError
from instride.steps.model import EventKind, Pauses, Run, Sampling
from instride.steps.notes import Note
from instride.steps.readers.contract import LONGEST_LINE
from instride.steps.readers.pattern import pattern_reader
from tests.unit.readers.reading import events, run_of

STEP = r"step (?P<step>\d+)"


def read(lines: Sequence[str], *patterns: str) -> Run:
    reader_type = pattern_reader(patterns)
    return run_of(reader_type, lines)


@pytest.mark.parametrize(
    ("group", "text", "seconds"),
    [
        (r"(?P<seconds>\S+)", "12.5", 12.5),
        (r"(?P<s>\S+)", "12.5", 12.5),
        (r"(?P<ms>\S+)", "1,250.5", 1.2505),
        (r"(?P<minutes>\S+)", "2", 120.0),
        (r"(?P<per_second>\S+)", "4", 0.25),
        (r"(?P<ms>\S+)", "nan", None),
        (r"(?P<ms>\S+)", "fast", None),
        (r"(?P<per_second>\S+)", "0", None),
        (r"(?P<ms>\S+)", "-3", None),
    ],
)
def test_a_duration_is_read_in_its_unit(group: str, text: str, seconds: float | None) -> None:
    run = read([f"step 7 took {text} !"], f"{STEP} took {group}")
    assert list(run.step) == [7]
    if seconds is None:
        assert isnan(run.seconds_at(0))
    else:
        assert run.seconds[0] == pytest.approx(seconds)


def test_elapsed_time_is_a_clock_of_the_process() -> None:
    run = read(
        ["step 1 at 0:05", "step 2 at 1:00:07", "step 3 at 1 days, 0:00:00"],
        STEP + r" at (?P<elapsed>.+)",
    )
    assert list(run.wall) == [5.0, 3607.0, 86400.0]
    assert not run.clock_is_absolute
    assert run.clock_resolution_s == 1.0


def test_elapsed_time_in_seconds_with_fractions_is_fine() -> None:
    run = read(["step 1 at 0.5", "step 2 at 1.25"], STEP + r" at (?P<elapsed>\S+)")
    assert list(run.wall) == [0.5, 1.25]
    assert run.clock_resolution_s == 0.0


@pytest.mark.parametrize(
    "texts",
    [
        ["2025-03-01 10:00:00.5", "2025-03-01 10:00:02.0"],
        ["03/01 10:00:00.5", "03/01 10:00:02.0"],
        ["23:59:59.500", "00:00:01.000"],
        ["1740823200.5", "1740823202.0"],
    ],
)
def test_a_timestamp_is_read_in_many_forms(texts: list[str]) -> None:
    lines = [f"{text} | step {n}" for n, text in enumerate(texts)]
    run = read(lines, r"(?P<time>.+) \| " + STEP)
    (between,) = [after - before for before, after in pairwise(run.wall)]
    assert between == pytest.approx(1.5)
    assert run.clock_is_absolute
    assert run.clock_resolution_s == 0.0


def test_a_text_that_is_no_timestamp_is_told_once() -> None:
    run = read(["step 1 t=0.5", "step 2 t=0.5"], STEP + r" t=(?P<time>\S+)")
    assert run.notes == [Note("no-timestamp", {"text": "0.5"})]
    assert all(isnan(wall) for wall in run.wall)


def test_a_timestamp_in_the_prefix_is_used_where_the_pattern_has_none() -> None:
    lines = ["10:00:00 starting up", *(f"10:00:0{n} [rank0]: step {n} 500ms" for n in (2, 4, 6))]
    run = read(lines, STEP + r" (?P<ms>\d+)ms")
    assert [after - before for before, after in pairwise(run.wall)] == [2.0, 2.0]
    assert list(run.seconds) == [0.5, 0.5, 0.5]
    assert run.clock_resolution_s == 1.0
    assert run.first_clock is not None
    assert (run.first_clock.line, run.wall[0] - run.first_clock.wall) == (1, 2.0)


def test_the_last_line_with_a_time_ends_the_process() -> None:
    run = read(
        ["10:00:02 step 1 500ms", "10:00:04 step 2 500ms", "10:00:05 x", "10:00:30 bye"],
        STEP + r" (?P<ms>\d+)ms",
    )
    (end,) = run.ends
    assert end.wall - run.wall[1] == 26.0


def test_steps_count_on_through_epochs_of_known_length() -> None:
    lines = [f"epoch {e} [{i}/30] 5ms" for e in (1, 2, 3) for i in (10, 20, 30)]
    run = read(lines, r"epoch (?P<epoch>\d+) \[(?P<step>\d+)/(?P<iters>\d+)\] (?P<ms>\d+)ms")
    assert list(run.step) == list(range(10, 100, 10))
    assert [event.at for event in run.events if event.kind is EventKind.EPOCH] == [3, 6]


@pytest.mark.parametrize("inside", [range(0, 30, 10), range(10, 31, 10), range(9, 30, 10)])
def test_the_length_of_an_epoch_is_learnt_where_it_is_not_printed(inside: range) -> None:
    lines = [f"epoch {e} it {i} 5ms" for e in (0, 1, 2) for i in inside]
    run = read(lines, r"epoch (?P<epoch>\d+) it (?P<step>\d+) (?P<ms>\d+)ms")
    assert list(run.step) == list(range(inside[0], inside[0] + 90, 10))


def test_steps_that_go_on_through_epochs_are_left_alone() -> None:
    lines = [f"epoch {i // 3 + 1} it {i} 5ms" for i in range(9)]
    run = read(lines, r"epoch (?P<epoch>\d+) it (?P<step>\d+) (?P<ms>\d+)ms")
    assert list(run.step) == list(range(9))


def test_an_epoch_may_stand_on_a_line_of_its_own() -> None:
    lines = []
    for epoch in (1, 2):
        lines += [f"== Epoch {epoch} of 2 ==", *(f"batch {i}: 5ms" for i in range(4))]
    run = read(lines, r"batch (?P<step>\d+): (?P<ms>\d+)ms", r"== Epoch (?P<epoch>\d+)")
    assert list(run.step) == list(range(8))


def test_waiting_for_data_is_kept() -> None:
    run = read(["step 1 0.5 0.25"], STEP + r" (?P<s>\S+) (?P<data>\S+)")
    assert list(run.data) == [0.25]


def test_pauses_have_patterns_of_their_own() -> None:
    lines = [
        "step 1 500ms",
        "## writing, 12.5s",
        "step 2 500ms",
        "## looking, 250ms",
        "step 3 500ms",
    ]
    run = read(
        lines,
        STEP + r" (?P<ms>\d+)ms",
        r"(?P<save>## writing), (?P<seconds>[\d.]+)s",
        r"(?P<eval>## looking), (?P<ms>\d+)ms",
    )
    assert list(run.step) == [1, 2, 3]
    assert events(run) == [("save", 1, 12.5), ("eval", 2, 0.25)]


def test_a_pause_that_names_its_step_is_no_step() -> None:
    lines = ["step 1 500ms", "step 1 saved", "step 2 500ms"]
    run = read(lines, STEP + r" (?P<ms>\d+)ms", STEP + " (?P<save>saved)")
    assert list(run.step) == [1, 2]
    (event,) = run.events
    assert (event.kind, event.at, event.step) == (EventKind.SAVE, 1, 1)


def test_a_group_for_a_pause_may_be_an_option_of_the_step() -> None:
    lines = ["step 1 500ms", "step 2 9000ms saved", "step 3 500ms"]
    run = read(lines, STEP + r" (?P<ms>\d+)ms(?P<save> saved)?")
    assert list(run.seconds) == [0.5, 9.0, 0.5]
    assert events(run) == [("save", 1, None)]


def test_generic_markers_are_found_between_the_steps() -> None:
    lines = ["compiling the model...", "step 1 500ms", "Saving checkpoint to x", "val loss 2.5"]
    run = read([*lines, "step 2 500ms"], STEP + r" (?P<ms>\d+)ms")
    assert events(run) == [("compile", 0, None), ("save", 1, None), ("eval", 1, None)]


def test_generic_markers_do_not_compete_with_the_users_own() -> None:
    lines = ["step 1 500ms", "Saving checkpoint to x", "val loss 2.5", "step 2 500ms"]
    run = read(lines, STEP + r" (?P<ms>\d+)ms", "(?P<save>flushing)")
    assert events(run) == [("eval", 1, None)]


def test_times_on_other_lines_belong_to_the_step_before_them() -> None:
    lines = ["[batch=1]:", "  loss: 2.5", "  took: 1.5", "[batch=2]:", "  loss: 2.4", "  took: 2.5"]
    run = read(lines, r"\[batch=(?P<step>\d+)\]", r"took: (?P<s>[\d.]+)")
    assert list(run.step) == [1, 2]
    assert list(run.seconds) == [1.5, 2.5]
    assert list(run.line) == [1, 4]


def test_a_launch_is_believed_when_the_steps_begin_anew() -> None:
    steps = [f"step {n} 500ms" for n in range(1, 4)]
    run = read([*steps, "Starting training", *steps], STEP + r" (?P<ms>\d+)ms")
    assert events(run) == [("start", 3, None)]


def test_a_launch_is_not_believed_when_the_steps_go_on() -> None:
    lines = ["Starting training", "step 1 5ms", "Starting training", "val loss 2", "step 2 5ms"]
    run = read(lines, STEP + r" (?P<ms>\d+)ms")
    assert events(run) == [("start", 0, None), ("eval", 1, None)]


def test_a_launch_is_believed_when_a_checkpoint_was_loaded() -> None:
    lines = ["step 1 5ms", "Starting training", "Loaded checkpoint x", "step 2 5ms"]
    run = read(lines, STEP + r" (?P<ms>\d+)ms")
    assert events(run) == [("start", 1, None), ("load", 1, None)]


def test_a_launch_without_steps_is_told_at_the_end() -> None:
    run = read(["step 1 5ms", "Starting training"], STEP + r" (?P<ms>\d+)ms")
    assert events(run) == [("start", 1, None)]


def test_durations_that_leave_out_the_stated_pauses_are_recognised() -> None:
    lines = [f"step {n} 500ms" for n in range(1, 10)]
    lines.insert(4, "saved checkpoint in 30.0 s")
    assert read(lines, STEP + r" (?P<ms>\d+)ms").dialect.pauses is Pauses.NONE
    lines[5] = "step 5 30500ms"
    assert read(lines, STEP + r" (?P<ms>\d+)ms").dialect.pauses is Pauses.SAME


def test_the_dialect_is_called_after_the_user() -> None:
    reader = pattern_reader([STEP + r" (?P<ms>\d+)ms"])
    assert (reader.dialect.name, reader.dialect.title) == ("pattern", "your pattern")
    assert reader.dialect.sampling is Sampling.EVERY_KTH
    assert pattern_reader([STEP + r" (?P<per_second>\S+)"]).dialect.sampling is Sampling.AVERAGE
    assert reader.sniff("[rank0]: step 5 12ms")
    assert not reader.sniff("step five")


@pytest.mark.parametrize(
    ("patterns", "why"),
    [
        (["step ("], "it is not a regular expression: missing ), unterminated subpattern"),
        (["(?P<step>"], "it is not a regular expression"),
        ([r"step (\d+)"], "it has no named group"),
        ([r"took (?P<ms>\d+)"], "no group is named `step`"),
        ([r"(?P<save>saved)"], "no group is named `step`"),
        ([r"(?P<stp>\d+)"], "no group is called `stp`, did you mean `step`?"),
        ([r"(?P<step>\d+) (?P<sec>\d+)"], "no group is called `sec`, did you mean `s"),
        ([r"(?P<step>\d+) (?P<xyzzy>\d+)"], "no group is called `xyzzy` (the names are step,"),
        ([r"(?P<step>\d+)(\w+\s*)+$"], "endlessly slow"),
        ([r"((a+)+)+(?P<step>\d+)"], "endlessly slow"),
        ([], "no group is named `step`"),
    ],
)
def test_a_bad_pattern_is_refused_with_the_reason(patterns: list[str], why: str) -> None:
    with pytest.raises(BadPatternError) as refused:
        pattern_reader(patterns)
    assert why in str(refused.value)
    assert "--pattern" in refused.value.hint


@pytest.mark.parametrize(
    "step", ["9" * 5000, "1" + "0" * 25, "", "x", "1e400", "nan", "-", "1,2,3"]
)
def test_mangled_steps_do_no_harm(step: str) -> None:
    run = read([f"step {step} 5ms", "step 2 5ms"], r"step (?P<step>\S*) (?P<ms>\d+)ms")
    assert run.step[-1] == 2


def test_lines_that_are_too_long_are_not_searched() -> None:
    long = "x" * LONGEST_LINE + " step 1 5ms"
    run = read([long, "step 2 5ms"], STEP + r" (?P<ms>\d+)ms")
    assert list(run.step) == [2]
    assert not pattern_reader([STEP]).sniff(long)


def test_a_pattern_that_is_slow_on_long_lines_is_kept_from_them() -> None:
    lines = ["7 = = = 5ms", *(["1 a= " * 12_000] * 200), "8 = = = 5ms"]
    started = perf_counter()
    run = read(lines, r"(?P<step>\d+) .*=.*=.*= (?P<ms>\d+)ms")
    assert perf_counter() - started < 10
    assert list(run.step) == [7, 8]
    (note,) = run.notes
    assert note.id == "long-lines"


@given(st.lists(st.text(max_size=80), max_size=10))
def test_no_line_is_too_strange(lines: list[str]) -> None:
    marked = [f"step {line} took {line}" for line in lines]
    pattern = r"step (?P<step>.*) took (?P<s>.*)"
    assert len(read(marked, pattern)) <= len(lines)
    timed = r"step (?P<step>\w*).*took (?P<time>.*)"
    assert len(read(marked, timed)) <= len(lines)
