"""What the log could not tell is said, and only then."""

from __future__ import annotations

import pytest

from instride.steps.model import EventKind, Pauses, Sampling
from instride.steps.notes import Note
from tests.unit.explain.making import Training, gaps_in

EVAL, SAVE = EventKind.EVAL, EventKind.SAVE


@pytest.mark.parametrize("has_wall", [False, True])
def test_a_log_of_every_step_leaves_nothing_open(has_wall: bool) -> None:
    training = Training(has_wall=has_wall)
    training.train(100)
    assert gaps_in(training.finish()) == {}


def test_steps_that_are_not_printed_are_said_to_be_estimated() -> None:
    training = Training(Sampling.EVERY_KTH, every=10)
    training.train(200)
    facts = gaps_in(training.finish())["sampled"].facts
    assert facts["every"] == 10
    assert facts["share"] == pytest.approx(0.9)


@pytest.mark.parametrize("sampling", [Sampling.AVERAGE, Sampling.RUNNING_TOTAL])
def test_averages_are_said_to_hide_single_steps(sampling: Sampling) -> None:
    training = Training(sampling, every=10)
    training.train(200)
    assert gaps_in(training.finish())["averaged"].facts == {"every": 10}


def test_totals_are_said_to_hide_all_steps() -> None:
    training = Training(Sampling.TOTALS, Pauses.NONE, every=10)
    training.train(200)
    run = training.finish()
    run.total_s = 200.0
    assert gaps_in(run).keys() == {"totals-only"}


def test_a_coarse_clock_is_said_to_hide_small_pauses() -> None:
    training = Training(has_wall=True, prints=False, resolution_s=1.0)
    training.train(200, 2.3)
    assert gaps_in(training.finish())["coarse-clock"].facts == {"seconds": 1.0}


def test_pauses_that_show_nowhere_are_counted() -> None:
    training = Training(pauses=Pauses.NONE)
    for number in range(6):
        training.train(50)
        training.pause(EVAL, 9.0)
        if number % 2 == 0:
            training.pause(SAVE, 9.0)
    training.train(50)
    assert gaps_in(training.finish())["hidden"].facts == {"evals": 6, "saves": 3}


@pytest.mark.parametrize("is_stated", [False, True])
@pytest.mark.parametrize("has_wall", [False, True])
def test_pauses_that_are_stated_or_on_the_wall_are_not_hidden(
    is_stated: bool, has_wall: bool
) -> None:
    training = Training(pauses=Pauses.NONE, has_wall=has_wall)
    training.train(50)
    training.pause(EVAL, 9.0, is_stated=is_stated)
    training.train(50)
    assert ("hidden" in gaps_in(training.finish())) == (not is_stated and not has_wall)


def test_pauses_at_steps_that_are_never_printed_are_said_to_show_nowhere() -> None:
    training = Training(Sampling.EVERY_KTH, Pauses.SAME, every=10)
    training.train(94)
    for _ in range(5):
        training.pause(EVAL, 20.0, is_named=True)
        training.train(100)
    assert gaps_in(training.finish())["hidden"].facts == {"evals": 5, "saves": 0}


def test_a_clock_that_goes_back_is_said_with_its_line() -> None:
    training = Training(has_wall=True)
    for _ in range(3):
        training.train(50)
        training.now -= 3600.0
    training.train(50)
    facts = gaps_in(training.finish())["clock-backwards"].facts
    assert facts == {"count": 3, "line": 51}


def test_restarts_without_a_common_clock_are_said_to_have_no_gap() -> None:
    training = Training()
    training.train(50)
    training.resume(40)
    training.train(50)
    assert "gaps" in gaps_in(training.finish())


def test_records_of_other_ranks_are_counted() -> None:
    training = Training()
    for _ in range(100):
        training.train(1)
        training.step -= 1
        training.train(1)
    assert gaps_in(training.finish())["ranks"].facts == {"count": 100}


def test_what_the_reader_had_to_guess_is_passed_on() -> None:
    training = Training()
    training.train(50)
    training.log.note(Note("batch-size", {"size": 128}))
    assert gaps_in(training.finish())["note-batch-size"].facts == {"size": 128}
