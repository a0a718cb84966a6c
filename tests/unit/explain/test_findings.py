"""Findings: what is worth a word, how sure it is, and silence where there is nothing."""

from __future__ import annotations

import pytest

from instride.explain.findings import findings
from instride.explain.ledger import build
from instride.explain.spans import Owner
from instride.steps.model import EventKind, Pauses, Run, Sampling
from tests.unit.explain.making import Training, found, heavy_tailed, jitter

EVAL, SAVE = EventKind.EVAL, EventKind.SAVE


def notable(run: Run) -> set[str]:
    """Findings of more than one percent."""
    ledger = build(run)
    return {each.id for each in findings(ledger) if each.cost_s > 0.01 * ledger.wall_s}


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("has_wall", [False, True])
def test_a_noisy_flat_log_has_nothing_above_one_percent(seed: int, has_wall: bool) -> None:
    training = Training(has_wall=has_wall)
    training.train(1000, heavy_tailed(1.0, seed))
    assert notable(training.finish()) == set()


@pytest.mark.parametrize("sampling", [Sampling.AVERAGE, Sampling.EVERY_KTH])
@pytest.mark.parametrize("seed", range(5))
def test_a_noisy_sampled_log_has_nothing_above_one_percent(sampling: Sampling, seed: int) -> None:
    training = Training(sampling, every=10)
    training.train(5000, heavy_tailed(1.0, seed))
    assert notable(training.finish()) == set()


@pytest.mark.parametrize("seed", range(5))
def test_a_noisy_log_by_a_coarse_clock_has_nothing_above_one_percent(seed: int) -> None:
    training = Training(has_wall=True, prints=False, resolution_s=1.0)
    training.train(1000, jitter(2.3, 0.05, seed))
    assert notable(training.finish()) == set()


def test_a_curriculum_has_no_finding_but_slower_since() -> None:
    training = Training()
    training.train(300, jitter(1.0, 0.01))
    training.train(300, jitter(1.5, 0.01))
    every = found(training.finish())
    assert every.keys() == {"slower-since"}
    finding = every["slower-since"]
    assert (finding.owner, finding.confidence) == (Owner.COMPUTE, "low")
    assert finding.facts["step"] == pytest.approx(301, abs=1)
    assert finding.facts["factor"] == pytest.approx(1.5, rel=0.01)
    assert finding.cost_s == pytest.approx(150.0, rel=0.02)


def test_a_run_that_gets_faster_has_no_finding_but_faster_since() -> None:
    training = Training()
    training.train(300, 10.0)
    training.train(300, 0.6)
    every = found(training.finish())
    assert every.keys() == {"faster-since"}
    assert every["faster-since"].facts["resumed"] == 0


def test_a_few_records_at_another_speed_are_no_change_of_speed() -> None:
    training = Training(has_wall=True)
    training.train(200)
    training.resume(200, 5.0, has_banner=True)
    training.train(12, 3.0)
    assert "slower-since" not in found(training.finish())


def test_a_resumed_process_that_is_slower_is_said_to_be_resumed() -> None:
    training = Training(has_wall=True)
    training.train(200)
    training.resume(200, 5.0, has_banner=True)
    training.train(200, 3.0)
    assert found(training.finish())["slower-since-resume"].facts["resumed"] == 1


def test_the_most_expensive_finding_comes_first() -> None:
    training = Training(has_wall=True)
    training.wait(50.0)
    for _ in range(5):
        training.train(50)
        training.pause(EVAL, 30.0)
        training.train(50)
        training.pause(SAVE, 3.0)
    training.train(50)
    every = findings(build(training.finish()))
    assert [finding.id for finding in every] == ["eval", "startup", "save"]


def test_a_finding_of_next_to_nothing_is_left_out() -> None:
    training = Training()
    training.train(20_000, lambda step: 2.0 if step == 7_000 else 1.0)
    assert found(training.finish()) == {}


def evaluations(costs: list[float], how: str = "marked") -> Run:
    training = Training()
    for seconds in costs:
        training.train(100)
        training.pause(EVAL, seconds, is_stated=how == "stated", is_sure=how != "hinted")
    training.train(100)
    return training.finish()


def test_pauses_are_summed_with_their_distance_and_their_worst() -> None:
    finding = found(evaluations([4.0, 4.0, 40.0, 4.0]))["eval"]
    assert finding.cost_s == pytest.approx(52.0)
    assert finding.facts["count"] == 4
    assert finding.facts["every"] == 100
    assert finding.facts["average_s"] == pytest.approx(13.0)
    assert finding.facts["worst_s"] == pytest.approx(40.0)
    assert finding.facts["worst_step"] == 301


def test_a_pause_is_called_by_the_step_that_the_log_names() -> None:
    training = Training(Sampling.AVERAGE, Pauses.NEXT, every=10)
    training.train(105)
    training.pause(EVAL, 30.0, is_named=True)
    training.train(95)
    run = training.finish()
    (span,) = build(run).spans
    assert (span.first_step, span.last_step) == (101, 110)
    assert found(run)["eval"].facts["first_step"] == 106


@pytest.mark.parametrize(("seconds", "ids"), [(5.0, {"eval"}), (90.0, {"eval", "closing-eval"})])
def test_a_closing_pause_like_the_others_is_counted_among_them(
    seconds: float, ids: set[str]
) -> None:
    training = Training(has_wall=True)
    for _ in range(4):
        training.train(100)
        training.pause(EVAL, 4.0)
    training.train(100)
    training.pause(EVAL, seconds)
    every = found(training.finish())
    assert every.keys() == ids
    assert sum(finding.cost_s for finding in every.values()) == pytest.approx(16.0 + seconds)


@pytest.mark.parametrize(
    ("times", "how", "confidence"),
    [
        (4, "marked", "high"),
        (1, "marked", "medium"),
        (1, "stated", "high"),
        (4, "hinted", "medium"),
    ],
)
def test_the_ladder_of_confidence(times: int, how: str, confidence: str) -> None:
    assert found(evaluations([4.0] * times, how))["eval"].confidence == confidence


def test_what_only_the_distance_tells_is_not_sure() -> None:
    training = Training()
    for _ in range(5):
        training.pause(EVAL, 20.0)
        training.train(100)
    training.train(600, lambda step: 9.0 if step % 100 == 1 else 1.0)
    finding = found(training.finish())["eval"]
    assert finding.confidence == "medium"
    assert finding.facts["inferred"] == 6


def test_what_nothing_but_the_distance_tells_is_a_guess() -> None:
    training = Training(has_wall=True)
    for _ in range(5):
        training.pause(EVAL, 0.0)
        training.train(100)
    training.resume(550, 60.0, has_banner=True)
    training.train(600, lambda step: 9.0 if step % 100 == 1 else 1.0)
    assert found(training.finish())["eval"].confidence == "low"


@pytest.mark.parametrize("story", ["comb", "zone", "step"])
def test_the_unknown_is_never_sure(story: str) -> None:
    shapes = {
        "comb": lambda step: 3.0 if step % 50 == 0 else 1.0,
        "zone": lambda step: 3.0 if 200 <= step < 220 else 1.0,
        "step": lambda step: 9.0 if step == 200 else 1.0,
    }
    training = Training()
    training.train(500, shapes[story])
    (finding,) = findings(build(training.finish()))
    assert (finding.owner, finding.confidence) == (Owner.UNKNOWN, "low")


def test_a_joint_pause_is_not_called_an_evaluation() -> None:
    training = Training()
    for _ in range(4):
        training.train(100)
        training.pause(EVAL, 9.0)
        training.pause(SAVE, 9.0)
    training.train(100)
    assert found(training.finish()).keys() == {"eval-and-save"}


def test_an_aftermath_names_the_save_and_compares_the_costs() -> None:
    training = Training()
    training.train(300)
    training.pause(SAVE, 10.0)
    training.train(1)
    training.train(20, 3.0)
    training.train(300)
    finding = found(training.finish())["aftermath"]
    assert finding.cost_s == pytest.approx(40.0)
    assert finding.facts["save_step"] == 301
    assert finding.facts["save_s"] == pytest.approx(10.0)
    assert finding.facts["times_save"] == pytest.approx(4.0)
    assert finding.facts["steps"] == 20
    assert finding.facts["factor"] == pytest.approx(3.0)


def after_saves(save_s: float, slow: tuple[int, ...]) -> Run:
    training = Training()
    for number in range(6):
        training.train(200)
        training.pause(SAVE, save_s)
        training.train(1)
        training.train(10, 3.0 if number in slow else 1.0)
    training.train(200)
    return training.finish()


def test_an_aftermath_of_some_saves_is_told_by_save() -> None:
    facts = found(after_saves(10.0, slow=(0, 1, 2, 3)))["aftermath"].facts
    assert (facts["count"], facts["saves"]) == (4, 6)
    assert facts["average_s"] == pytest.approx(4 * 20.0 / 6)


@pytest.mark.parametrize(("save_s", "times"), [(0.2, None), (2.0, 10.0)])
def test_an_aftermath_is_not_compared_with_next_to_nothing(
    save_s: float, times: float | None
) -> None:
    facts = found(after_saves(save_s, slow=tuple(range(6))))["aftermath"].facts
    assert facts["times_save"] == (None if times is None else pytest.approx(times))


def test_two_combs_of_nearly_one_period_are_one_finding() -> None:
    training = Training()
    training.train(4000, lambda step: 2.2 if step % 189 == 0 or step % 190 == 0 else 1.0)
    every = found(training.finish())
    assert every.keys() == {"periodic"}
    assert (every["periodic"].facts["period"], every["periodic"].facts["to_period"]) == (189, 190)


def test_a_snapshot_of_a_thousandth_of_an_interval_is_not_reported() -> None:
    training = Training(Sampling.AVERAGE, Pauses.NEXT, every=500)
    for _ in range(8):
        training.train(50_000 // 10, 0.1)
        training.pause(SAVE, 0.1)
    assert notable(training.finish()) == set()


def test_every_finding_has_evidence() -> None:
    training = Training(has_wall=True)
    training.wait(60.0)
    training.train(1, 30.0)
    for _ in range(3):
        training.train(100)
        training.pause(SAVE, 10.0)
        training.train(1)
        training.train(10, 2.0)
    training.resume(training.step - 5, 60.0)
    training.train(300, lambda step: 5.0 if step % 50 == 0 else 1.0)
    run = training.finish()
    for finding in findings(build(run)):
        assert finding.lines == sorted(set(finding.lines))
        assert finding.lines
        assert all(1 <= line <= training.line for line in finding.lines)
