"""Evaluations and saves in one pause, told apart by the first step alone: likely, not sure."""

from __future__ import annotations

import pytest

from instride.explain.comparing import compare
from instride.explain.explaining import explain
from instride.explain.ledger import build
from instride.explain.spans import Owner, Told
from instride.steps.model import EventKind, Run
from instride.steps.source import Source
from tests.unit.explain.making import Training, found, gaps_in, of, seconds_of

EVAL, SAVE = EventKind.EVAL, EventKind.SAVE


def saving_when_evaluating(
    first_s: float = 20.0, alone: tuple[int, ...] = (), save_s: float = 5.0, times: int = 8
) -> Run:
    """A loop that evaluates at its first step, too, where there is nothing to save yet."""
    training = Training()
    training.pause(EVAL, first_s)
    for number in range(times):
        training.train(100)
        training.pause(EVAL, 20.0)
        if number not in alone:
            training.pause(SAVE, save_s)
    training.train(100)
    return training.finish()


def test_a_split_by_the_first_step_alone_is_only_likely_and_said() -> None:
    run = saving_when_evaluating()
    ledger = build(run)
    assert seconds_of(ledger, Owner.SAVE) == pytest.approx(8 * 5.0)
    assert {span.told for span in of(ledger, Owner.SAVE)} == {Told.SPLIT}
    assert {found(run)[name].confidence for name in ("eval", "save")} == {"medium"}
    assert gaps_in(run)["rough-split"].facts == {"step": 1}


@pytest.mark.parametrize("alone", [(4,), (2, 5)])
def test_a_split_by_pauses_in_the_middle_is_sure(alone: tuple[int, ...]) -> None:
    run = saving_when_evaluating(alone=alone)
    assert found(run)["save"].confidence == "high"
    assert "rough-split" not in gaps_in(run)


def test_a_first_evaluation_as_long_as_both_does_not_split_them() -> None:
    run = saving_when_evaluating(first_s=25.5)
    assert seconds_of(build(run), Owner.SAVE) == 0.0
    assert found(run).keys() & {"eval", "save", "eval-and-save"} == {"eval-and-save"}
    assert "joint" in gaps_in(run)


@pytest.mark.parametrize("is_swapped", [False, True])
def test_what_is_split_in_one_log_only_is_compared_as_a_whole(
    is_swapped: bool, paper: Source
) -> None:
    runs = [saving_when_evaluating(), saving_when_evaluating(first_s=25.5)]
    before, after = (explain(run, [paper]) for run in (runs[::-1] if is_swapped else runs))
    comparison = compare(before, after)
    kinds = {each.id for change in comparison.findings for each in change.before + change.after}
    assert {"eval", "save", "eval-and-save"} <= kinds
    assert {change.change for change in comparison.findings} == {"same"}
    (told,) = [each for each in comparison.caveats if each.id == "joint"]
    assert told.facts["side"] == "before"


def test_saves_that_are_split_differently_are_not_gone(paper: Source) -> None:
    before, after = saving_when_evaluating(), saving_when_evaluating(first_s=24.9)
    comparison = compare(explain(before, [paper]), explain(after, [paper]))
    assert "gone" not in {change.change for change in comparison.findings}
    assert not comparison.is_different
