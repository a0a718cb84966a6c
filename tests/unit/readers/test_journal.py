"""The journal of a store: exact times, saves where they happened, one process per training."""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan

import pytest

from instride.explain.findings import findings
from instride.explain.languages import LANGUAGES
from instride.explain.ledger import build
from instride.explain.unknowns import Unknown
from instride.steps.model import EventKind, Run
from instride.steps.readers.journal import HELD, Journal
from tests.unit.readers.journal_lines import (
    START_S,
    STEP_S,
    beats,
    call,
    line,
    restored,
    start,
    unnumbered,
)
from tests.unit.readers.reading import run_of


def read(lines: Iterable[str]) -> Run:
    return run_of(Journal, lines)


def saves_of(run: Run) -> list[tuple[int | None, int, float | None]]:
    """Step, the step of the record before it, and what it cost."""
    return [
        (event.step, run.step[event.at - 1], event.seconds)
        for event in run.events
        if event.kind is EventKind.SAVE
    ]


def test_every_step_has_its_exact_time_and_a_wall_clock() -> None:
    run = read([start(START_S), *beats(START_S, 0, 5)])

    assert list(run.step) == [0, 1, 2, 3, 4]
    assert isnan(run.seconds[0])
    assert list(run.seconds[1:]) == [STEP_S] * 4
    assert run.wall[4] == pytest.approx(START_S + 5 * STEP_S)
    assert run.first_clock is not None
    assert run.first_clock.wall == START_S


def test_a_save_stands_behind_its_step_however_late_its_line_comes() -> None:
    steps = list(beats(START_S, 0, 50, {20: 0.5}))
    called_s = START_S + 21 * STEP_S + 0.0001

    run = read([start(START_S), *steps, call(called_s, 20, 0.5)])

    assert saves_of(run) == [(20, 20, 0.5)]


def test_a_clock_whose_last_digits_are_late_does_not_move_a_save() -> None:
    steps = list(beats(START_S, 0, 50, {20: 0.5}))
    too_early_s = START_S + 21 * STEP_S - 0.0001

    run = read([start(START_S), *steps, call(too_early_s, 20, 0.5)])

    assert saves_of(run) == [(20, 20, 0.5)]


def test_two_saves_of_one_step_in_different_processes_are_two() -> None:
    first = [start(START_S, 100), *beats(START_S, 0, 30), call(START_S + 2.1001, 20, 0.5, id=1)]
    begin = START_S + 60
    again = [start(begin, 200), *beats(begin, 11, 30), call(begin + 1.0001, 20, 0.4, id=1)]

    assert saves_of(read([*first, *again])) == [(20, 20, 0.5), (20, 20, 0.4)]


def test_another_training_is_another_process() -> None:
    first = [start(START_S, 100), *beats(START_S, 0, 30)]
    first.append(line(START_S + 3.5, "end", why="the trainer is gone"))
    second = [start(START_S + 10, 200), *beats(START_S + 11, 20, 40)]

    run = read([*first, *second])

    assert [event.at for event in run.events if event.kind is EventKind.START] == [0, 30]
    (end, *_) = run.ends
    assert end.wall == START_S + 3.5


def test_a_writer_that_is_started_again_is_no_restart_of_the_training() -> None:
    steps = list(beats(START_S, 0, 30))
    again = start(START_S + 1.55, 100, writer=999)
    saved = call(START_S + 1.1001, 10, 0.02)

    run = read([start(START_S), *steps[:15], saved, again, saved, *steps[15:]])

    assert [event.at for event in run.events if event.kind is EventKind.START] == [0]
    assert saves_of(run) == [(10, 10, 0.02)]


def test_a_saver_that_was_closed_and_made_anew_in_one_program_is_another_process() -> None:
    first = [start(START_S), *beats(START_S, 0, 30), call(START_S + 2.1001, 20, 0.5)]
    first.append(line(START_S + 3.5, "end", why="the trainer closed the connection"))
    begin = START_S + 10
    second = [start(begin), *beats(begin, 0, 30), call(begin + 2.1001, 20, 0.4)]

    run = read([*first, *second])

    assert [event.at for event in run.events if event.kind is EventKind.START] == [0, 30]
    assert saves_of(run) == [(20, 20, 0.5), (20, 20, 0.4)]


def test_what_the_writer_does_after_the_training_is_no_life_of_the_training() -> None:
    lines = [start(START_S), *beats(START_S, 0, 10)]
    lines.append(line(START_S + 2, "end", why="the trainer is gone"))
    lines.append(line(START_S + 60, "durable", path="x/step_00000009.pt", bytes=10, s=59.0))

    (end,) = read(lines).ends

    assert end.wall == START_S + 2


def test_a_clock_that_is_set_makes_no_step_longer() -> None:
    steps = list(beats(START_S, 0, 10))
    later = list(beats(START_S + 3600 + 10 * STEP_S, 9, 20))[1:]

    run = read([start(START_S), *steps, *later])

    assert max(run.wall[i + 1] - run.wall[i] for i in range(len(run) - 1)) < 2 * STEP_S


def test_the_beat_of_the_optimizer_before_the_loop_tells_its_step_is_the_same_step() -> None:
    first = line(START_S + 0.1, "step", step=-1)
    second = line(START_S + 0.1003, "step", step=7, s=0.0003)

    run = read([start(START_S), first, second, line(START_S + 0.2, "step", step=8, s=0.0997)])

    assert list(run.step) == [7, 8]
    assert isnan(run.seconds[0])


def test_steps_without_numbers_are_counted_from_what_a_save_says() -> None:
    steps = [line(START_S + i * STEP_S, "step", step=-1, s=STEP_S) for i in range(1, 31)]

    run = read([start(START_S), *steps, call(START_S + 10.5 * STEP_S, 110, 0.01)])

    assert (run.step[0], run.step[-1]) == (101, 130)
    assert saves_of(run) == [(110, 110, 0.01)]
    assert [note.id for note in run.notes] == ["counted-beats"]


def test_a_save_before_the_first_step_of_a_resumed_training_tells_where_it_goes_on() -> None:
    begin = START_S + 60
    first = [start(START_S, 100), *unnumbered(START_S, 30), call(START_S + 2.05, 19, 0.01)]
    again = [start(begin, 200), call(begin + 0.05, 19, 0.01), *unnumbered(begin, 15)]

    run = read([*first, *again])

    assert (run.step[29], run.step[30], run.step[-1]) == (29, 20, 34)


@pytest.mark.parametrize(("saved", "goes_on"), [(True, 20), (False, 0)])
def test_a_killed_training_goes_on_from_what_is_durable_where_no_line_says_more(
    saved: bool, goes_on: int
) -> None:
    begin = START_S + 60
    lines = [start(START_S, 100), *unnumbered(START_S, 30)]
    if saved:
        lines.append(call(START_S + 2.05, 19, 0.01))
        lines.append(line(START_S + 2.5, "durable", id=1, path="/c/step_00000019.pt", bytes=1))

    run = read([*lines, start(begin, 200), *unnumbered(begin, 8)])

    assert (run.step[29], run.step[30]) == (29, goes_on)
    (lost,) = [each for each in findings(build(run)) if each.id == "lost"]
    assert (lost.facts["steps"], lost.confidence) == (30 - goes_on, "medium")
    assert [(note.id, note.facts) for note in run.notes] == [
        ("counted-beats", {"begun_at": goes_on})
    ]


def test_a_resumed_training_goes_on_where_its_journal_says_to_the_step() -> None:
    begin = START_S + 60
    # The lines of the save that was restored were lost with the writer.
    first = [start(START_S, 100), restored(START_S, None), *unnumbered(START_S, 30)]
    first.append(call(START_S + 0.55, 4, 0.01))
    first.append(line(START_S + 0.6, "durable", id=1, path="/c/step_00000004.pt", bytes=1))

    run = read([*first, start(begin, 200), restored(begin, 19), *unnumbered(begin, 8)])

    assert list(run.step) == [*range(30), *range(20, 28)]
    (lost,) = [each for each in findings(build(run)) if each.id == "lost"]
    assert (lost.facts["steps"], lost.confidence) == (10, "high")
    assert [note.facts for note in run.notes] == [{}]


def test_a_training_that_found_nothing_to_restore_begins_anew() -> None:
    begin = START_S + 60
    lines = [start(START_S, 100), *unnumbered(START_S, 30)]
    lines.append(call(START_S + 2.05, 19, 0.01))
    lines.append(line(START_S + 2.5, "durable", id=1, path="/c/step_00000019.pt", bytes=1))

    run = read([*lines, start(begin, 200), restored(begin, None), *unnumbered(begin, 8)])

    assert (run.step[29], run.step[30]) == (29, 0)
    assert [note.facts for note in run.notes] == [{}]


@pytest.mark.parametrize(("went_on", "after"), [(19, 20), (None, 30), (99, 100)])
def test_in_the_middle_of_a_training_steps_go_on_behind_what_was_restored(
    went_on: int | None, after: int
) -> None:
    begin = START_S + 30 * STEP_S
    steps = [start(START_S), *unnumbered(START_S, 30), call(START_S + 2.05, 19, 0.01)]

    run = read([*steps, restored(begin + 0.05, went_on), *unnumbered(begin + 0.1, 20)])

    assert list(run.step) == [*range(30), *range(after, after + 20)]
    assert len(build(run).timeline.processes) == (1 if went_on is None else 2)
    lost = [each.facts["steps"] for each in findings(build(run)) if each.id == "lost"]
    assert lost == ([10] if went_on == 19 else [])


def test_saves_that_are_named_by_epochs_are_gone_on_from_by_their_place() -> None:
    begin = START_S + 60
    first = [start(START_S, 100), *unnumbered(START_S, 35)]
    first += [call(START_S + (i + 1) + 0.05, i, 0.01, id=i) for i in range(3)]

    run = read([*first, start(begin, 200), restored(begin, 2), *unnumbered(begin, 8)])

    assert (run.step[34], run.step[35]) == (34, 30)


def test_a_clock_whose_last_digits_are_late_loses_no_step() -> None:
    begin = START_S + 60
    first = [start(START_S, 100), *unnumbered(START_S, 30), call(START_S + 0.55, 4, 0.01, id=1)]
    first.append(call(START_S + 20 * STEP_S - 0.0001, 19, 0.01, id=2))

    run = read([*first, start(begin, 200), restored(begin, 19), *unnumbered(begin, 8)])

    assert (run.step[29], run.step[30]) == (29, 20)


def test_an_epoch_whose_place_nobody_knows_is_guessed() -> None:
    begin = START_S + 60
    first = [start(START_S, 100), *unnumbered(START_S, 35)]
    first.append(call(START_S + 1.05, 0, 0.01, id=1))
    first.append(line(START_S + 1.5, "durable", id=1, path="/c/step_00000000.pt", bytes=1))

    run = read([*first, start(begin, 200), restored(begin, 2), *unnumbered(begin, 8)])

    assert (run.step[34], run.step[35]) == (34, 10)
    assert [note.facts for note in run.notes] == [{"begun_at": 10}]


def test_what_was_restored_before_no_step_is_nothing_of_the_training_after_it() -> None:
    begin = START_S + 60
    first = [start(START_S, 100), *unnumbered(START_S, 30)]
    vain = [start(START_S + 30, 150), restored(START_S + 30, 7)]
    again = [start(begin, 200), *unnumbered(begin, 8), call(begin + 0.05, 19, 0.01)]

    run = read([*first, *vain, *again])

    assert (run.step[29], run.step[30]) == (29, 20)


def test_a_loop_that_tells_its_steps_is_believed() -> None:
    begin = START_S + 60
    first = [start(START_S, 100), *beats(START_S, 0, 30)]
    doubled = [line(begin + 0.1, "step", step=-1), line(begin + 0.1003, "step", step=25, s=0.0003)]

    run = read([*first, start(begin, 200), restored(begin, 19), *doubled])

    assert list(run.step) == [*range(30), 25]
    assert [(e.step, e.at) for e in run.events if e.kind is EventKind.LOAD] == [(19, 30)]


def test_a_saver_made_anew_in_one_program_counts_on() -> None:
    begin = START_S + 60
    first = [start(START_S), *unnumbered(START_S, 30), line(START_S + 3.5, "end", why="closed")]

    run = read([*first, start(begin), *unnumbered(begin, 8)])

    assert (run.step[29], run.step[30]) == (29, 30)
    assert [note.facts for note in run.notes] == [{}]


def test_a_line_behind_half_a_line_is_read() -> None:
    begin = START_S + 60
    half = line(START_S + 3.1, "step", step=30, s=STEP_S)[:-9]

    run = read([*beats(START_S, 0, 30), half + start(begin, 200), *beats(begin, 11, 30)])

    assert [event.at for event in run.events if event.kind is EventKind.START] == [30]


@pytest.mark.parametrize("code", LANGUAGES)
def test_where_a_process_was_taken_to_begin_is_said(code: str) -> None:
    say = LANGUAGES[code]
    plain = say.unknown(Unknown("note-counted-beats", {}))
    guessed = say.unknown(Unknown("note-counted-beats", {"begun_at": 4321}))
    assert guessed.startswith(plain.rstrip(".\u3002"))
    assert "4321" in guessed


def test_a_long_run_is_recorded_as_it_comes_with_every_save_in_its_place() -> None:
    every = 1000
    total = 3 * HELD
    steps = list(beats(START_S, 0, total))
    lines = [start(START_S)]
    for number, text in enumerate(steps):
        lines.append(text)
        saved = number - 500
        if saved > 0 and saved % every == 0:
            lines.append(call(START_S + (saved + 1) * STEP_S + 0.001, saved, 0.01, id=saved))

    run = read(lines)

    assert len(run) == total
    assert [(step, before) for step, before, _ in saves_of(run)] == [
        (step, step) for step in range(every, total - 500, every)
    ]


def test_failures_are_told_unless_the_save_was_done_again() -> None:
    failed = line(START_S + 1, "failed", id=1, path="/c/step_00000005.pt", why="I/O", errno="EIO")
    done = line(START_S + 2, "durable", id=1, path="/c/step_00000005.pt", bytes=10, s=1.0)
    steps = list(beats(START_S, 0, 30))

    (note,) = read([start(START_S), *steps, failed]).notes
    assert (note.id, note.facts["name"], note.facts["why"]) == (
        "failed-saves",
        "step_00000005.pt",
        "I/O",
    )
    assert read([start(START_S), *steps, failed, done]).notes == []


@pytest.mark.parametrize(("staged_s", "is_slow"), [(0.3, False), (2.0, True)])
def test_a_call_tells_of_the_disk_only_where_it_waited_for_it(
    staged_s: float, is_slow: bool
) -> None:
    lines = [start(START_S), *beats(START_S, 0, 50, {20: 2.0})]
    durable = line(START_S + 4.2, "durable", id=1, path="/c/x", bytes=10, s=2.0, staged_s=staged_s)

    run = read([*lines, call(START_S + 21 * STEP_S + 0.001, 20, 2.0), durable])

    assert ("slow-filesystem" in {each.id for each in findings(build(run))}) is is_slow


@pytest.mark.parametrize(
    "text",
    [
        '{"t":1767225600.1,"kind":"call","id":1,"step":3,"s":',
        '{"t":1e400,"kind":"start"}',
        '{"t":1,"kind":"call","step":"x"}',
        '"kind":"',
        '{"t":-5,"kind":"end","why":""}',
        '{"t":1767225601.0,"kind":"step","step":5,"s":nan}',
    ],
)
def test_mangled_lines_are_passed_over(text: str) -> None:
    steps = list(beats(START_S, 0, 5))

    run = read([start(START_S), *steps[:2], text, *steps[2:]])

    assert list(run.step) == [0, 1, 2, 3, 4]
    assert [event.kind for event in run.events] == [EventKind.START]


def test_what_an_agent_notes_later_is_no_time_of_the_training() -> None:
    lines = [start(START_S), *beats(START_S, 0, 50)]
    later = line(START_S + 5000, "agent-compressed", name="step_1.pt", bytes=1, s=41.0)
    alone, with_agent = read(lines), read([*lines, later])
    assert with_agent.wall_at(len(with_agent) - 1) == alone.wall_at(len(alone) - 1)
    assert len(with_agent) == len(alone)
    assert with_agent.ends == alone.ends
