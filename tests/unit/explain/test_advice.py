"""Advice: intervals from measured costs, against failures that are given or seen."""

from __future__ import annotations

import re
from math import sqrt

import pytest

from instride.explain.advice import (
    Advice,
    advise,
    daly,
    parse_mtbf,
    rounded_down,
    rounded_up,
    wasted,
    young,
)
from instride.explain.causes.curing import cures
from instride.explain.findings import findings
from instride.explain.languages.en import English
from instride.explain.ledger import build
from instride.steps.model import Dialect, EventKind, Pauses, Run, Sampling
from tests.unit.explain.making import Training, found

EVAL, SAVE = EventKind.EVAL, EventKind.SAVE
HOUR = 3600.0
ENGLISH = English()
SETTING = re.compile(r"([a-z][\w.-]*interval[\w-]*|--validator\.freq)[ =]+(\d+)")


def pausing_run(
    *kinds: EventKind,
    seconds: float = 10.0,
    every: int = 100,
    times: int = 12,
    slow_steps: int = 0,
    dialect: str = "made-up",
) -> Run:
    """A run with pauses, after each of which some steps take three times as long."""
    training = Training(has_wall=True)
    for _ in range(times):
        training.train(every - slow_steps)
        for kind in kinds:
            training.pause(kind, seconds)
        if slow_steps:
            training.train(1)
            training.train(slow_steps - 1, 3.0)
    training.train(every)
    run = training.finish()
    run.dialect = Dialect(dialect, "", "", Pauses.SAME, Sampling.EVERY_STEP)
    return run


def advice_on(run: Run, mtbf_s: float | None = None) -> dict[str, Advice]:
    return {each.id: each for each in advise(build(run), mtbf_s)}


def test_an_evaluation_gets_the_interval_that_keeps_it_under_one_percent() -> None:
    advice = advice_on(pausing_run(EVAL, dialect="nanogpt"))["eval-interval"]
    assert advice.facts["every"] == 100
    assert advice.facts["share"] == pytest.approx(12 * 10 / (1300 + 12 * 10))
    assert advice.facts["steps"] == 1000
    assert advice.change == "eval_interval = 1000"
    assert advice.saves_s == pytest.approx(0.9 * 120)


def test_the_interval_is_a_multiple_of_the_present_one() -> None:
    advice = advice_on(pausing_run(EVAL, every=150))["eval-interval"]
    assert advice.facts["steps"] == 1050


def test_pauses_that_are_cheap_need_no_advice() -> None:
    assert advice_on(pausing_run(EVAL, seconds=1.1)) == {}


def test_no_pauses_no_advice() -> None:
    assert advice_on(pausing_run(), 12 * HOUR) == {}


def test_a_save_costs_what_it_stops_and_what_it_slows_down() -> None:
    advice = advice_on(pausing_run(SAVE, slow_steps=21))["save-interval"]
    assert advice.facts["blocking_s"] == pytest.approx(10.0)
    assert advice.facts["cost_s"] == pytest.approx(50.0, rel=0.02)


def test_the_cost_of_a_save_is_an_average_over_all_saves_in_findings_and_advice() -> None:
    training = Training()
    for number in range(6):
        training.train(100)
        training.pause(SAVE, 30.0 if number == 3 else 6.0)
        training.train(1)
        training.train(10, 3.0 if number < 4 else 1.0)
    training.train(100)
    run = training.finish()
    findings = found(run)
    advice = advice_on(run)["save-interval"]
    assert advice.facts["blocking_s"] == pytest.approx(10.0)
    assert findings["save"].facts["average_s"] == pytest.approx(10.0)
    after_s = findings["aftermath"].facts["average_s"]
    assert after_s == pytest.approx(80.0 / 6)
    assert advice.facts["cost_s"] == pytest.approx(10.0 + 80.0 / 6)
    assert "costs 23.3 s on average (13.3 s of it in the steps after it)" in ENGLISH.advice(advice)


def evaluating_and_saving(dialect: str, losses: int = 0) -> Run:
    """Evaluations every 100 steps, each second one with a save; dies so many times."""
    training = Training(has_wall=True)
    for number in range(12):
        training.train(100)
        training.pause(EVAL, 6.0)
        if number % 2:
            training.pause(SAVE, 8.0)
        if number < losses:
            training.train(60)
            training.resume(training.step - 60, 5.0, has_banner=True)
    training.train(100)
    run = training.finish()
    run.dialect = Dialect(dialect, "", "", Pauses.SAME, Sampling.EVERY_STEP)
    return run


def test_one_setting_for_evaluating_and_saving_gets_one_value_and_what_it_does_is_said() -> None:
    run = evaluating_and_saving("nanogpt")
    advice = advice_on(run)
    assert advice.keys() == {"eval-interval"}
    told = advice["eval-interval"]
    assert told.facts["cost_s"] == pytest.approx(10.0)
    assert told.change == "eval_interval = 1000"
    sentence = ENGLISH.advice(told)
    assert sentence.startswith("A pause for evaluation and save costs 10.0 s on average")
    assert "`eval_interval` sets both: saves become rarer, too" in sentence


def test_failures_decide_about_a_setting_for_both() -> None:
    advice = advice_on(evaluating_and_saving("nanogpt"), 6 * HOUR)
    assert advice.keys() == {"save-by-failures"}
    told = advice["save-by-failures"]
    assert told.change is not None
    assert told.change.startswith("eval_interval = ")
    assert "`eval_interval` sets both: it evaluates as often." in ENGLISH.advice(told)


@pytest.mark.parametrize("losses", [0, 1, 3])
@pytest.mark.parametrize("mtbf_s", [None, 6 * HOUR])
@pytest.mark.parametrize("dialect", ["nanogpt", "fairseq", "torchtitan"])
def test_no_setting_is_given_two_values(dialect: str, mtbf_s: float | None, losses: int) -> None:
    ledger = build(evaluating_and_saving(dialect, losses))
    lines = {each.change for each in advise(ledger, mtbf_s)}
    lines |= {cure.change for each in findings(ledger) for cure in cures(each, ledger, mtbf_s)}
    found = [pair for line in lines for pair in SETTING.findall(line or "")]
    assert len(dict(found)) == len(set(found))


def test_two_settings_get_a_value_each() -> None:
    advice = advice_on(evaluating_and_saving("torchtitan"))
    assert advice.keys() == {"eval-interval", "save-interval"}


def test_an_interval_far_beyond_the_log_is_no_line_to_set() -> None:
    advice = advice_on(pausing_run(EVAL, seconds=60.0, times=4, dialect="nanogpt"))
    assert advice["eval-interval"].facts["beyond"] == 1
    assert advice["eval-interval"].change is None


@pytest.mark.parametrize(
    ("dialect", "slow_steps", "instead"),
    [
        ("made-up", 0, "save-async"),
        ("journal", 0, "skip-when-busy"),
        ("journal", 40, "spend-less"),
        ("openpi", 0, "save-near"),
        ("openpi", 40, None),
    ],
)
def test_who_cannot_save_less_often_is_told_what_makes_a_save_cheaper(
    dialect: str, slow_steps: int, instead: str | None
) -> None:
    run = pausing_run(SAVE, seconds=30.0, times=3, slow_steps=slow_steps, dialect=dialect)
    advice = advice_on(run)["save-interval"]
    assert (advice.facts["beyond"], advice.facts["instead"]) == (1, instead)


def test_a_single_pause_does_not_tell_the_present_interval() -> None:
    advice = advice_on(pausing_run(SAVE, seconds=40.0, times=1, every=800))["save-interval"]
    assert advice.facts["every"] is None
    assert advice.saves_s is None


def test_a_joint_pause_is_one_piece_of_advice() -> None:
    advice = advice_on(pausing_run(EVAL, SAVE, seconds=5.0, dialect="nanogpt"))
    assert advice.keys() == {"eval-interval"}
    assert advice["eval-interval"].facts["joint"] == 1


def test_a_given_time_between_failures_decides_how_often_to_save() -> None:
    advice = advice_on(pausing_run(SAVE, dialect="torchtitan"), 12 * HOUR)["save-by-failures"]
    assert advice.facts["young_s"] == pytest.approx(sqrt(2 * 10 * 12 * HOUR))
    assert advice.facts["restarts"] == 0
    assert advice.facts["steps"] == 920
    assert advice.change == "--checkpoint.interval=920"


def restarted(times: int, dialect: str = "torchtitan") -> Run:
    training = Training(has_wall=True)
    for _ in range(times + 1):
        for _ in range(3):
            training.train(1000)
            training.pause(SAVE, 2.0)
        training.train(900)
        training.resume(training.step - 900, 60.0, has_banner=True)
    training.train(10)
    run = training.finish()
    run.dialect = Dialect(dialect, "", "", Pauses.SAME, Sampling.EVERY_STEP)
    return run


def test_restarts_in_the_log_stand_in_for_a_given_time_and_are_called_a_guess() -> None:
    run = restarted(2)
    advice = advice_on(run)["save-by-failures"]
    assert advice.facts["restarts"] == 3
    assert advice.facts["mtbf_s"] == pytest.approx(build(run).running_s / 3)
    assert "a guess from the 3 restarts in this log" in ENGLISH.advice(advice)
    assert advice.change is not None
    assert advice.change.startswith("--checkpoint.interval=1")


def test_a_given_time_goes_before_the_restarts_in_the_log() -> None:
    advice = advice_on(restarted(2), 24 * HOUR)["save-by-failures"]
    assert advice.facts["restarts"] == 0
    assert "guess" not in ENGLISH.advice(advice)


def test_an_interval_that_is_nearly_the_best_is_kept() -> None:
    run = pausing_run(SAVE, dialect="torchtitan")
    mtbf_s = 100.0**2 / (2 * 10.0) + 50.0
    advice = advice_on(run, mtbf_s)["save-by-failures"]
    assert advice.facts["keep"] == 1
    assert advice.change is None


@pytest.mark.parametrize(("cost_s", "mtbf_s"), [(10.0, 1e5), (60.0, 3600.0), (300.0, 7200.0)])
def test_no_interval_loses_much_less_than_that_of_daly(cost_s: float, mtbf_s: float) -> None:
    best = wasted(cost_s, daly(cost_s, mtbf_s), mtbf_s)
    for factor in (0.3, 0.5, 0.8, 1.25, 2.0, 3.0):
        assert best <= wasted(cost_s, factor * daly(cost_s, mtbf_s), mtbf_s) * 1.01


def test_the_two_rules_agree_where_saving_is_cheap() -> None:
    assert daly(1.0, 1e7) == pytest.approx(young(1.0, 1e7), rel=0.001)


def test_a_save_longer_than_the_time_between_failures_is_survived() -> None:
    assert daly(100.0, 10.0) == 10.0


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("12h", 43200), ("12", 43200), ("3d", 259200), ("90min", 5400), ("1.5 H", 5400), ("30s", 30)],
)
def test_a_time_between_failures_is_written_as_people_do(text: str, seconds: float) -> None:
    assert parse_mtbf(text) == seconds


@pytest.mark.parametrize("text", ["", "h", "-3h", "0", "3 weeks or so", "nan", "1e3h", "9" * 400])
def test_anything_else_is_refused_with_examples(text: str) -> None:
    with pytest.raises(ValueError, match="12h, 3d or 90min"):
        parse_mtbf(text)


@pytest.mark.parametrize(
    ("steps", "down", "up"), [(0.2, 1, 1), (7.3, 7, 8), (604.0, 600, 610), (12345.6, 12000, 13000)]
)
def test_intervals_have_two_digits(steps: float, down: int, up: int) -> None:
    assert (rounded_down(steps), rounded_up(steps)) == (down, up)
