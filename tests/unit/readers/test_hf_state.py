"""trainer_state.json: totals and evaluations, no time for a step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from instride.steps.model import EventKind, Run, Sampling
from instride.steps.notes import Note
from instride.steps.readers.hf_state import HFState
from instride.steps.reading import read_with
from instride.steps.source import Source
from tests.unit.readers.drawing import read as read_as
from tests.unit.readers.reading import events


def read(text: str) -> Run:
    return read_as(HFState, text.split("\n"))


def loss(step: int, value: float = 1.5) -> dict[str, Any]:
    return {"epoch": step / 100, "learning_rate": 1e-05, "loss": value, "step": step}


def evaluation(step: int, seconds: float, name: str = "eval") -> dict[str, Any]:
    return {"epoch": step / 100, f"{name}_loss": 1.2, f"{name}_runtime": seconds, "step": step}


def end(step: int, seconds: float) -> dict[str, Any]:
    return {"epoch": 9.0, "step": step, "total_flos": 5.3e20, "train_runtime": seconds}


def state(*entries: dict[str, Any]) -> dict[str, Any]:
    return {
        "best_metric": 0.74,
        "global_step": 100,
        "logging_steps": 10,
        "log_history": list(entries),
        "max_steps": 100,
        "stateful_callbacks": {"TrainerControl": {"args": {"should_log": False}}},
    }


HISTORY = state(
    *(loss(step) for step in (10, 20)),
    evaluation(20, 30.5),
    *(loss(step) for step in (30, 40)),
    evaluation(40, 31.5),
    end(40, 400.0),
)


@pytest.mark.parametrize("indent", [2, None])
def test_losses_are_records_and_evaluations_follow_their_step(indent: int | None) -> None:
    run = read(json.dumps(HISTORY, indent=indent, sort_keys=True) + "\n")
    assert list(run.step) == [10, 20, 30, 40]
    assert events(run) == [
        (EventKind.EVAL, 2, 30.5),
        (EventKind.EVAL, 4, 31.5),
        (EventKind.END, 4, None),
    ]
    assert [event.step for event in run.events] == [20, 40, None]
    assert run.total_s == 400.0
    assert run.dialect.sampling is Sampling.TOTALS
    assert run.notes == []


def test_a_record_stands_where_its_step_does() -> None:
    text = json.dumps(HISTORY, indent=2)
    run = read(text)
    lines = text.split("\n")
    assert [lines[line - 1].strip() for line in run.line] == [
        f'"step": {step}' for step in (10, 20, 30, 40)
    ]
    assert lines[run.events[0].line - 1].strip() == '"step": 20'


def test_an_entry_that_is_left_out_does_not_shift_the_others() -> None:
    text = json.dumps(state({"step": "ten", "loss": 1.0}, {"loss": 1.0}, loss(20)), indent=2)
    run = read(text)
    assert [text.split("\n")[line - 1].strip() for line in run.line] == ['"step": 20']


def test_all_records_of_a_document_on_one_line_stand_there() -> None:
    assert list(read(json.dumps(HISTORY)).line) == [1, 1, 1, 1]


def test_an_evaluation_written_before_the_loss_of_its_step_comes_after_it() -> None:
    run = read(json.dumps(state(loss(10), evaluation(20, 30.0), loss(20), loss(30))))
    assert list(run.step) == [10, 20, 30]
    assert events(run) == [(EventKind.EVAL, 2, 30.0)]


def test_evaluations_of_several_sets_add_up() -> None:
    sets = evaluation(20, 30.0, "eval_dev"), evaluation(20, 12.5, "eval_test")
    run = read(json.dumps(state(loss(20), *sets, loss(30))))
    assert events(run) == [(EventKind.EVAL, 1, 42.5)]


def test_numbers_that_json_does_not_have_are_taken() -> None:
    text = json.dumps(state(loss(10, float("nan")), loss(20, float("-inf")), loss(30)), indent=2)
    assert "NaN" in text
    assert "-Infinity" in text
    run = read(text)
    assert list(run.step) == [10, 20, 30]
    assert run.notes == []


@pytest.mark.parametrize("indent", [2, None])
def test_a_document_that_ends_in_the_middle_gives_its_whole_entries(indent: int | None) -> None:
    text = json.dumps(HISTORY, indent=indent)
    run = read(text[: text.index("31.5")])
    assert list(run.step) == [10, 20, 30, 40]
    assert events(run) == [(EventKind.EVAL, 2, 30.5)]
    assert run.total_s is None
    assert run.notes == [Note("damaged-document")]


@pytest.mark.parametrize(
    "text",
    [
        '{"log_history": [{"step": "ten", "loss": 1}, {"step": true, "loss": 1}, {"loss": 1}]}',
        '{"log_history": null}',
        '{"log_history": [1, 2, 3]}',
        '{"log_history": [' + "[" * 50_000,
        '{"log_history": [{"step": ' + "9" * 5000 + ', "loss": 1}]}',
        '{"log_history": [{"step": -5, "loss": 1}, {"step": 2.5, "loss": 1}]}',
        '{"log_history": []}',
        "{",
        "}\n}\n]",
    ],
)
def test_documents_without_a_usable_entry_give_nothing(text: str) -> None:
    assert len(read(text)) == 0


def test_a_time_that_cannot_be_is_unknown() -> None:
    text = json.dumps(state(loss(10), evaluation(10, 1), loss(20), end(20, -3.0)))
    run = read(text.replace('"eval_runtime": 1', '"eval_runtime": ' + "9" * 400))
    assert events(run) == [(EventKind.EVAL, 1, None), (EventKind.END, 2, None)]
    assert run.total_s is None


def test_two_documents_are_two_processes() -> None:
    text = json.dumps(HISTORY, indent=2) + "\n" + json.dumps(state(loss(50), loss(60)), indent=2)
    run = read(text)
    assert list(run.step) == [10, 20, 30, 40, 50, 60]
    assert (EventKind.START, 4, None) in events(run)


def test_a_state_is_recognised_pretty_or_on_one_line() -> None:
    assert HFState.sniff('  "log_history": [')
    assert HFState.sniff(json.dumps(HISTORY))
    assert HFState.sniff(json.dumps(HISTORY, separators=(",", ":")))
    assert not HFState.sniff("{'loss': 1.14, 'epoch': 0.07}")
    assert not HFState.sniff(json.dumps(loss(10)))


def test_a_real_state_has_its_evaluations(cases: Path) -> None:
    run = read_with(HFState, [Source(str(cases / "hf-trainer-state-whisper.json"))])
    assert list(run.step) == list(range(25, 5001, 25))
    assert run.total_s == pytest.approx(77_351, abs=1)
    evaluations = [event for event in run.events if event.kind is EventKind.EVAL]
    assert [event.step for event in evaluations] == [1000, 2000, 3000, 4000, 5000]
    assert sum(event.seconds or 0 for event in evaluations) == pytest.approx(8585.5, abs=0.1)
    assert [event.at for event in evaluations] == [40, 80, 120, 160, 200]
