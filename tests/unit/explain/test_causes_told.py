"""How sure a cause is, what it costs, and what is not told again."""

from __future__ import annotations

import pytest

from instride.explain.causes.contract import Rung
from instride.explain.findings import findings
from instride.explain.ledger import build
from instride.explain.spans import Owner
from instride.steps.model import EventKind, Pauses, Run, Sampling
from tests.unit.explain.making import Training, found, seconds_of
from tests.unit.explain.pausing import cleanup, off_the_clock, saves, sized_saves
from tests.unit.explain.running import compiled, crashes, steps
from tests.unit.explain.stories import FINDINGS

EVAL = EventKind.EVAL


def evaluations(times: int, **how: bool) -> Run:
    training = Training()
    for _ in range(times):
        training.train(100)
        training.pause(EVAL, 5.0, **how)
    training.train(100)
    return training.finish()


@pytest.mark.parametrize(
    ("how", "rung"),
    [
        ({"is_stated": True}, Rung.STATED),
        ({}, Rung.MARKER),
        ({"is_sure": False}, Rung.MARKER),
    ],
    ids=["stated", "marked", "hinted"],
)
def test_a_pause_stands_on_the_rung_that_its_lines_give(how: dict[str, bool], rung: Rung) -> None:
    assert found(evaluations(3, **how))["eval"].rung is rung


def test_pauses_that_are_told_by_their_distance_stand_on_a_lower_rung() -> None:
    training = Training()
    for _ in range(3):
        training.pause(EVAL, 8.0)
        training.train(100)
    training.train(900, lambda step: 9.0 if step % 100 == 1 else 1.0)
    assert found(training.finish())["eval"].rung is Rung.PERIOD


def comb() -> Run:
    return steps((800, lambda step: 3.0 if step % 100 == 0 else 1.0))()


def test_a_comb_of_the_distance_of_a_setting_names_it() -> None:
    (finding,) = findings(build(comb()), {"log_interval": 10, "eval_interval": 100})
    assert (finding.confidence, finding.rung) == ("medium", Rung.PERIOD)
    assert finding.facts["setting"] == "eval_interval"


def test_a_comb_of_no_setting_stays_a_shape() -> None:
    (finding,) = findings(build(comb()), {"log_interval": 10, "eval_interval": 200})
    assert (finding.confidence, finding.rung) == ("low", Rung.SHAPE)
    assert finding.facts["setting"] is None


@pytest.mark.parametrize(("num_workers", "rung"), [(8, Rung.PERIOD), (4, Rung.SHAPE)])
def test_turns_of_as_many_workers_as_are_set_are_likely(num_workers: int, rung: Rung) -> None:
    run = FINDINGS["worker-turns"][0]()
    (finding,) = findings(build(run), {"num_workers": num_workers})
    assert finding.rung is rung


def test_a_clean_up_with_a_time_of_its_own_is_told_apart_from_the_save_beside_it() -> None:
    every = found(cleanup(4, is_stated=True)())
    assert every["cleanup"].cost_s == pytest.approx(24.0)
    assert every["save"].cost_s == pytest.approx(16.0)


def test_growth_costs_what_the_saves_took_more_than_the_first() -> None:
    every = found(saves(10.0, 15.0, 20.0, 25.0))
    assert every["growing-saves"].cost_s == pytest.approx(30.0)
    assert every["growing-saves"].within == "save"
    assert every["save"].cost_s == pytest.approx(70.0)


def test_a_slow_file_system_costs_what_a_hundred_megabytes_a_second_would_have_saved() -> None:
    every = found(sized_saves(0.2)())
    assert every["slow-filesystem"].facts["bytes_s"] == pytest.approx(1e7)
    assert every["slow-filesystem"].cost_s == pytest.approx(3 * 18.0)
    assert every["slow-filesystem"].within == "save"
    assert every["save"].cost_s == pytest.approx(60.0)


def test_a_marked_compilation_is_likely_and_cites_its_line() -> None:
    finding = found(compiled(150)())["recompilation"]
    assert (finding.confidence, finding.rung) == ("medium", Rung.MARKER)
    assert 151 in finding.lines
    assert finding.cost_s == pytest.approx(14.0)


def test_a_marked_compilation_is_no_unknown_time() -> None:
    ledger = build(compiled(150)())
    assert seconds_of(ledger, Owner.WARMUP) == pytest.approx(14.0)
    assert seconds_of(ledger, Owner.UNKNOWN) == 0.0


def test_a_compilation_that_takes_no_time_is_not_told() -> None:
    training = Training()
    training.train(100)
    training.mark(EventKind.COMPILE)
    training.train(100)
    assert found(training.finish()) == {}


def test_steps_of_a_moving_collector_are_not_told_again_as_slow_steps() -> None:
    assert found(FINDINGS["collector-pauses"][0]()).keys() == {"collector-pauses"}


def test_a_drift_is_not_told_again_as_changes_of_speed() -> None:
    training = Training()
    training.train(2400, lambda step: 1.0 + step / 600)
    assert found(training.finish()).keys() == {"drift"}


def test_a_drift_costs_what_the_steps_took_more_than_the_first_ones() -> None:
    finding = found(FINDINGS["drift"][0]())["drift"]
    assert finding.facts["plateau"] == 0
    assert finding.cost_s == pytest.approx(530.0, rel=0.05)


def test_a_crash_loop_counts_launches_and_their_time() -> None:
    finding = found(crashes(4)())["crash-loop"]
    assert finding.facts["launches"] == 4
    assert finding.cost_s == pytest.approx(4 * 80.0)


def test_time_between_epochs_that_is_told_as_a_stall_is_not_told_as_hidden_too() -> None:
    training = Training(pauses=Pauses.NONE, has_wall=True)
    for number in range(6):
        training.mark(EventKind.EPOCH)
        training.now += 6.0
        training.train(50 + number % 2)
    told = found(training.finish())
    assert told["epoch-stalls"].cost_s == pytest.approx(30.0)
    assert "hidden-time" not in told


def test_hidden_time_is_what_the_clock_has_more_than_the_printed_times() -> None:
    finding = found(off_the_clock()())["hidden-time"]
    assert finding.cost_s == pytest.approx(120.0)
    assert (finding.owner, finding.within) == (Owner.EVAL, "eval")


def test_printed_times_of_some_steps_only_hide_nothing() -> None:
    training = Training(Sampling.EVERY_KTH, Pauses.NONE, every=10, has_wall=True)
    for _ in range(4):
        training.train(100)
        training.pause(EVAL, 30.0)
    training.train(100)
    assert "hidden-time" not in found(training.finish())
