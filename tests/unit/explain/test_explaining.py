"""The entry: from a run to an explanation with its evidence, or to an error that says why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from instride.errors import NoTimesError
from instride.explain.explaining import explain, report
from instride.steps.model import EventKind, Pauses, Run, Sampling
from instride.steps.source import Source
from tests.unit.explain.making import Training
from tests.unit.explain.stories import FINDINGS

NAN = float("nan")


@pytest.mark.parametrize("name", sorted(FINDINGS))
def test_evidence_quotes_the_lines_of_the_log(name: str, paper: Source) -> None:
    answer = report(explain(FINDINGS[name][0](), [paper]))
    quotes = [each for finding in answer.findings for each in finding.evidence]
    quotes += [each for span in answer.spans for each in span.evidence]
    assert quotes
    assert all(each.text == f"line {each.line}" for each in quotes)


def two_files() -> Run:
    """A run whose second file begins after line 100 with a slow step."""
    training = Training()
    training.train(100)
    training.log.event(EventKind.START, 101)
    training.train(1, 30.0)
    training.train(100)
    run = training.finish()
    run.line_offsets = [0, 100]
    return run


def test_lines_of_a_second_file_are_counted_there(paper: Source, tmp_path: Path) -> None:
    other = tmp_path / "resumed.log"
    other.write_text("first\nsecond\n")
    explanation = explain(two_files(), [paper, Source(str(other))])
    (warmup,) = report(explanation).spans
    assert [(each.line, each.text, each.source) for each in warmup.evidence] == [
        (1, "first", str(other))
    ]
    assert explanation.place(100) == (paper.name, 100)
    assert explanation.place(102) == (str(other), 2)


def test_a_line_that_the_log_does_not_have_is_quoted_as_nothing(tmp_path: Path) -> None:
    log = tmp_path / "short.log"
    log.write_text("only this\n")
    answer = report(explain(FINDINGS["eval"][0](), [Source(str(log))]))
    assert {each.text for each in answer.findings[0].evidence} == {""}


@pytest.mark.parametrize("seconds", [0.0, NAN, -1.0, float("inf")])
def test_steps_without_any_time_are_an_error(seconds: float, paper: Source) -> None:
    training = Training()
    training.train(10, seconds)
    with pytest.raises(NoTimesError) as caught:
        explain(training.finish(), [paper])
    assert "10 steps" in str(caught.value)
    assert paper.name in str(caught.value)
    assert caught.value.hint


def test_a_single_timestamp_is_no_time(paper: Source) -> None:
    training = Training(has_wall=True, prints=False)
    training.train(1, 3.0)
    with pytest.raises(NoTimesError, match="1 step,"):
        explain(training.finish(), [paper])


def test_two_timestamps_are_a_step(paper: Source) -> None:
    training = Training(has_wall=True, prints=False)
    training.train(2, 3.0)
    assert explain(training.finish(), [paper]).ledger.baseline_s == pytest.approx(3.0)


def test_totals_that_their_evaluations_use_up_are_no_time(paper: Source) -> None:
    training = Training(Sampling.TOTALS, Pauses.NONE, every=10)
    training.train(100)
    training.pause(EventKind.EVAL, 500.0, is_stated=True)
    run = training.finish()
    run.total_s = 500.0
    with pytest.raises(NoTimesError):
        explain(run, [paper])


@pytest.mark.parametrize("seconds", [1e30, 1e300, 1.7e308])
def test_times_beyond_all_reason_are_survived(seconds: float, paper: Source) -> None:
    training = Training()
    training.train(100, lambda step: seconds if step % 30 == 0 else 1.0)
    answer = report(explain(training.finish(), [paper]))
    assert all(0 <= owner.share <= 1 for owner in answer.owners.values())
    assert answer.baseline_s == pytest.approx(1.0)
