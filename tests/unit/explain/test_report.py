"""The JSON contract, schema 1: its keys, what may be null, and what adds up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from instride.explain.explaining import explain, report
from instride.explain.report import Report
from instride.explain.spans import Owner
from instride.steps.model import EventKind, Pauses, Run, Sampling
from instride.steps.source import Source
from tests.unit.explain.making import Training
from tests.unit.explain.stories import FINDINGS

KEYS = {
    "": {
        *("schema", "dialect", "source", "steps", "baseline_s", "cadence", "owners", "spans"),
        *("restarts", "findings", "unknown"),
    },
    "steps": {"observed", "first", "last", "sampled_every"},
    "owners": {"seconds", "share", "steps"},
    "spans": {
        *("owner", "first_step", "last_step", "extra_s", "factor", "measured", "evidence"),
    },
    "restarts": {"line", "resumed_at", "gap_s", "lost_steps", "lost_s"},
    "findings": {
        *("id", "owner", "cost_s", "share", "confidence", "sentence", "evidence", "remedies"),
        *("rung", "part_of", "alternatives"),
    },
    "evidence": {"line", "text"},
    "remedies": {"text", "change", "saves_s"},
    "alternatives": {"text", "check"},
}


@pytest.fixture
def reported(paper: Source) -> Callable[[Run], Report]:
    return lambda run: report(explain(run, [paper]))


def eventful() -> Run:
    """A bit of everything, with a wall clock."""
    training = Training(pauses=Pauses.NONE, has_wall=True)
    training.wait(30.0)
    training.train(1, 20.0)
    for _ in range(4):
        training.train(100)
        training.pause(EventKind.EVAL, 9.0)
        training.train(100)
        training.pause(EventKind.SAVE, 5.0)
        training.train(1)
        training.train(20, 2.0)
    training.resume(training.step - 30, 300.0)
    training.train(200)
    training.wait(40.0)
    return training.finish()


def test_every_object_has_the_keys_of_the_contract(reported: Callable[[Run], Report]) -> None:
    answer: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(reported(eventful())))
    assert answer.keys() >= KEYS[""]
    assert answer["steps"].keys() >= KEYS["steps"]
    for owner in answer["owners"].values():
        assert owner.keys() >= KEYS["owners"]
    for name in ("spans", "restarts", "findings"):
        assert answer[name], f"no {name} to look at"
        for entry in answer[name]:
            assert entry.keys() >= KEYS[name]
            for inner in ("evidence", "remedies", "alternatives"):
                assert all(each.keys() >= KEYS[inner] for each in entry.get(inner, []))


def test_the_report_survives_json(reported: Callable[[Run], Report]) -> None:
    answer = reported(eventful())
    assert msgspec.json.decode(msgspec.json.encode(answer), type=Report) == answer


def test_the_report_says_what_was_read(reported: Callable[[Run], Report], paper: Source) -> None:
    answer = reported(eventful())
    assert (answer.schema, answer.dialect, answer.source) == (1, "made-up", [paper.name])
    assert answer.baseline_s == pytest.approx(1.0)
    assert answer.cadence is None


def test_steps_are_counted_with_their_repetitions(reported: Callable[[Run], Report]) -> None:
    training = Training()
    training.train(100)
    training.resume(80)
    training.train(50)
    steps = reported(training.finish()).steps
    assert (steps.observed, steps.first, steps.last, steps.sampled_every) == (150, 1, 130, 1)


def test_a_sampled_log_says_how_far_apart_its_records_are(
    reported: Callable[[Run], Report],
) -> None:
    training = Training(Sampling.AVERAGE, every=10)
    training.train(200)
    steps = reported(training.finish()).steps
    assert (steps.observed, steps.first, steps.last, steps.sampled_every) == (20, 10, 200, 10)


def test_a_rhythm_is_reported_as_cadence(reported: Callable[[Run], Report]) -> None:
    training = Training()
    training.train(500, lambda step: 1.085 if step % 16 == 3 else 1.0)
    cadence = reported(training.finish()).cadence
    assert cadence is not None
    assert (cadence.period, cadence.offset) == (16, 3)


def test_shares_of_the_owners_add_up_to_one(reported: Callable[[Run], Report]) -> None:
    owners = reported(eventful()).owners
    assert sum(owner.share for owner in owners.values()) == pytest.approx(1.0)
    assert all(0 <= owner.share <= 1 for owner in owners.values())


def test_only_owners_with_time_are_reported_and_computing_always(
    reported: Callable[[Run], Report],
) -> None:
    training = Training()
    training.train(50)
    assert reported(training.finish()).owners.keys() == {"compute"}
    assert reported(eventful()).owners.keys() >= {"startup", "warmup", "eval", "save", "lost"}


def test_spans_never_belong_to_computing(reported: Callable[[Run], Report]) -> None:
    training = Training(Sampling.AVERAGE, every=10, has_wall=True)
    training.train(104)
    training.wait(0.0)
    answer = reported(training.finish())
    assert answer.spans == []
    assert answer.owners["compute"].seconds == pytest.approx(104.0)


def test_an_estimated_span_is_not_measured(reported: Callable[[Run], Report]) -> None:
    training = Training(Sampling.EVERY_KTH, Pauses.SAME, every=10)
    training.train(99)
    for num_steps in (100, 105, 100):
        training.pause(EventKind.EVAL, 20.0, is_named=True)
        training.train(num_steps)
    spans = reported(training.finish()).spans
    assert [(span.last_step, span.measured) for span in spans] == [
        (100, True),
        (200, True),
        (305, False),
    ]


def test_restarts_are_reported(reported: Callable[[Run], Report]) -> None:
    (restart,) = reported(eventful()).restarts
    assert (restart.resumed_at, restart.lost_steps) == (856, 30)
    assert restart.gap_s == pytest.approx(300.0)
    assert restart.lost_s == pytest.approx(30.0)


def test_a_gap_that_no_clock_shows_is_null(reported: Callable[[Run], Report]) -> None:
    training = Training()
    training.train(50)
    training.resume(40)
    training.train(50)
    answer = msgspec.json.decode(msgspec.json.encode(reported(training.finish())))
    assert answer["restarts"][0]["gap_s"] is None


@pytest.mark.parametrize("name", sorted(FINDINGS))
def test_no_finding_costs_more_than_the_run(name: str, reported: Callable[[Run], Report]) -> None:
    for story in FINDINGS[name]:
        for finding in reported(story()).findings:
            assert 0 <= finding.share <= 1
            assert finding.cost_s >= 0
            assert finding.remedies


def test_findings_and_spans_name_owners_that_exist(reported: Callable[[Run], Report]) -> None:
    names = {owner.value for owner in Owner}
    answer = reported(eventful())
    assert {finding.owner for finding in answer.findings} <= names
    assert {span.owner for span in answer.spans} <= names - {"compute"}


def test_a_period_is_compared_with_the_settings_at_the_head_of_the_log(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("eval_interval = 100\n")
    (finding,) = report(explain(FINDINGS["periodic"][0](), [Source(str(log))])).findings
    assert (finding.rung, finding.confidence) == ("period", "medium")
    assert "`eval_interval`" in finding.sentence
