"""Causes: each is told by a run that shows it, and not by one that nearly does."""

from __future__ import annotations

import pytest

from instride.explain.causes import CATALOGUE, CAUSES
from instride.explain.causes.contract import Rung
from instride.explain.findings import findings
from instride.explain.ledger import build
from instride.explain.spans import Owner
from instride.steps.model import EventKind, Pauses, Run, Sampling
from tests.unit.explain.making import Training, found, jitter, seconds_of
from tests.unit.explain.pausing import (
    Story,
    after_evals,
    cleanup,
    epochs,
    first_eval,
    off_the_clock,
    sized_saves,
)
from tests.unit.explain.running import (
    BORDERS,
    IRREGULAR,
    at_steps,
    compiled,
    crashes,
    never_again,
    resumed,
    steps,
)
from tests.unit.explain.stories import FINDINGS

EVAL, SAVE = EventKind.EVAL, EventKind.SAVE


def saves(*costs: float) -> Run:
    training = Training()
    for seconds in costs:
        training.train(100)
        training.pause(SAVE, seconds)
    training.train(100)
    return training.finish()


def staircase(step: int) -> float:
    """Sequences that get longer in three stages."""
    return 1.0 + 0.4 * (step // 400)


NEARLY: dict[str, list[Story]] = {
    "first-eval": [first_eval(5.0), first_eval(20.0, times=3), first_eval(300.0)],
    "cleanup": [lambda: saves(4.0, 4.0)],
    "slow-filesystem": [sized_saves(2.5), sized_saves(0.2, is_stated=False)],
    "growing-saves": [
        lambda: saves(4.0, 10.0, 4.0, 10.0),
        lambda: saves(4.0, 4.1, 4.2, 4.3),
        lambda: saves(4.0, 5.0, 8.0),
    ],
    "recompilation": [
        after_evals(3),
        after_evals(0, 3),
        after_evals(0, times=3),
        after_evals(0, longer_s=0.7),
        steps((300, at_steps({150}, 14.0))),
    ],
    "epoch-stalls": [epochs(first_s=1.0), epochs(times=2), epochs(length=2, times=40)],
    "worker-turns": [
        steps((800, lambda step: 3.0 if step % 50 == 0 else 1.0)),
        steps((64, lambda step: 3.0 if step % 8 == 0 else 1.0)),
        steps((800, lambda step: 1.2 if step % 8 == 0 else 1.0)),
    ],
    "shard-switches": [
        steps((1000, at_steps(set(range(95, 1000, 95)), 3.0))),
        steps((1000, at_steps(IRREGULAR, 3.0))),
        steps((330, at_steps(BORDERS, 3.0))),
    ],
    "crash-loop": [crashes(2), never_again(2), resumed(1.0)],
    "collector-pauses": [
        steps((800, at_steps(IRREGULAR, 6.0, 0.4))),
        steps((200, at_steps(IRREGULAR, 0.6, 0.4))),
        steps((800, at_steps(set(range(80, 800, 80)), 0.6, 0.4))),
    ],
    "drift": [
        steps((600, 1.0), (600, 1.5)),
        steps((1600, staircase)),
        steps((1200, lambda step: 1.0 + 0.1 * step / 1200)),
        steps((1200, lambda step: 2.0 - step / 1200)),
        steps((1200, jitter(1.0, 0.05))),
    ],
    "slower-since-resume": [resumed(1.05), resumed(1.5, resumed_after=0)],
    "hidden-time": [off_the_clock(seconds=0.01), off_the_clock(SAVE, pauses=Pauses.SAME)],
}
"""Runs that must not be taken for a cause, by its id."""


@pytest.mark.parametrize(
    ("name", "story"),
    [
        pytest.param(name, story, id=f"{name} {number}")
        for name, stories in NEARLY.items()
        for number, story in enumerate(stories, 1)
    ],
)
def test_what_nearly_is_a_cause_is_not_taken_for_it(name: str, story: Story) -> None:
    assert name not in found(story())


def test_every_cause_has_a_story_and_every_story_a_cause() -> None:
    assert set(CAUSES) == set(FINDINGS)
    assert len(CATALOGUE) == len(CAUSES)
    assert set(NEARLY) <= set(CAUSES)


@pytest.mark.parametrize("cause", CATALOGUE, ids=lambda cause: cause.id)
def test_every_cause_says_how_it_is_told_and_what_helps(cause: object) -> None:
    known = next(each for each in CATALOGUE if each is cause)
    assert known.told_by.endswith(".")
    assert known.remedies
    assert known.owners


@pytest.mark.parametrize("name", sorted(FINDINGS))
def test_findings_belong_to_the_owners_of_their_cause(name: str) -> None:
    for story in FINDINGS[name]:
        ledger = build(story())
        for finding in findings(ledger):
            assert finding.owner in CAUSES[finding.id].owners
            assert all(span in ledger.spans for span in finding.spans)


@pytest.mark.parametrize("name", sorted(FINDINGS))
def test_a_span_is_told_once(name: str) -> None:
    for story in FINDINGS[name]:
        told = [id(span) for finding in findings(build(story())) for span in finding.spans]
        assert len(told) == len(set(told))


@pytest.mark.parametrize("name", sorted(FINDINGS))
def test_findings_that_are_not_part_of_others_cost_no_more_than_their_owners_have(
    name: str,
) -> None:
    for story in FINDINGS[name]:
        ledger = build(story())
        for owner in set(Owner) - {Owner.COMPUTE}:
            own = [each for each in findings(ledger) if each.owner is owner and not each.within]
            total = sum(finding.cost_s for finding in own)
            assert total <= ledger.accounts[owner].seconds * (1 + 1e-9)


@pytest.mark.parametrize(
    "name", ["recompilation", "shard-switches", "collector-pauses", "drift", "first-eval"]
)
def test_what_only_a_shape_tells_is_never_sure(name: str) -> None:
    for story in FINDINGS[name]:
        finding = found(story())[name]
        assert finding.confidence != "high"
        assert (finding.rung is Rung.SHAPE) == (finding.confidence == "low")


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
