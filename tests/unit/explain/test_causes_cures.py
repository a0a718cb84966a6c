"""Remedies: the line for the trainer recognised, with its value and what it would save."""

from __future__ import annotations

import re

import pytest

from instride.explain.advice import advise
from instride.explain.causes import CATALOGUE
from instride.explain.causes.curing import Cure, cures
from instride.explain.causes.trainers import ALREADY, ANY_TRAINER, INSTEAD, TRAINERS, line_for
from instride.explain.findings import findings
from instride.explain.languages import LANGUAGES
from instride.explain.ledger import build
from instride.steps.model import Dialect, EventKind, Pauses, Run, Sampling
from instride.steps.notes import Note
from instride.steps.readers import READERS
from tests.unit.explain.making import Training
from tests.unit.explain.pausing import Story
from tests.unit.explain.stories import FINDINGS

EVAL, SAVE = EventKind.EVAL, EventKind.SAVE


def as_written_by(dialect: str, run: Run) -> Run:
    run.dialect = Dialect(dialect, "", "", run.dialect.pauses, run.dialect.sampling)
    return run


def cures_of(name: str, run: Run) -> dict[str, Cure]:
    ledger = build(run)
    (finding,) = [each for each in findings(ledger) if each.id == name]
    return {cure.id: cure for cure in cures(finding, ledger)}


def pauses(*kinds: EventKind, seconds: float = 10.0, times: int = 12) -> Run:
    training = Training()
    for _ in range(times):
        training.train(100)
        for kind in kinds:
            training.pause(kind, seconds)
    training.train(100)
    return training.finish()


@pytest.mark.parametrize(
    ("dialect", "line"),
    [
        ("nanogpt", "eval_interval = 1000"),
        ("hf-trainer", 'eval_strategy="steps", eval_steps=1000'),
        ("torchtitan", "--validator.freq=1000"),
        ("megatron", "--eval-interval 1000"),
        ("verl", "trainer.test_freq=1000"),
        ("torchtune", "run_val_every_n_steps=1000"),
        ("litgpt", "--eval.interval 1000"),
        ("made-up", None),
    ],
)
def test_evaluating_less_often_is_a_line_of_the_trainer(dialect: str, line: str | None) -> None:
    cure = cures_of("eval", as_written_by(dialect, pauses(EVAL)))["evaluate-less"]
    assert cure.change == line
    assert cure.saves_s == pytest.approx(0.9 * 120)


@pytest.mark.parametrize(
    ("dialect", "line"),
    [
        ("torchtitan", "--checkpoint.async_mode=async_with_pinned_mem"),
        ("megatron", "--async-save --use-persistent-ckpt-worker"),
        ("torchtune", "enable_async_checkpointing=True"),
    ],
)
def test_saving_in_the_background_comes_first_where_the_trainer_can(
    dialect: str, line: str
) -> None:
    first = next(iter(cures_of("save", as_written_by(dialect, pauses(SAVE))).values()))
    assert (first.id, first.change) == ("save-async", line)
    assert first.saves_s == pytest.approx(120.0)


def test_a_trainer_that_saves_in_the_background_is_not_told_to() -> None:
    assert "save-async" not in cures_of("save", as_written_by("openpi", pauses(SAVE)))


@pytest.mark.parametrize("code", LANGUAGES)
def test_our_own_writer_is_told_to_do_less_and_nobody_to_look_for_another(code: str) -> None:
    run = as_written_by("journal", FINDINGS["aftermath"][1]())
    ledger = build(run)
    (finding,) = [each for each in findings(ledger) if each.id == "aftermath"]
    assert {cure.id: cure.change for cure in cures(finding, ledger)} == {
        "save-less": None,  # no interval within this run would do
        "spend-less": "Saver(budget=0.01)",
        "pack-later": "Saver(pack=False)",
    }
    assert LANGUAGES[code].remedy(finding) == LANGUAGES[code].cures["save-less"]


@pytest.mark.parametrize(
    ("code", "background"),
    [
        ("en", "in the background"),
        ("de", "im Hintergrund"),
        ("fr", "arrière-plan"),
        ("ja", "バックグラウンド"),
    ],
)
def test_our_own_log_is_never_advised_to_save_in_the_background(code: str, background: str) -> None:
    training = Training(has_wall=True)
    for _ in range(4):
        training.train(100)
        training.pause(SAVE, 5.0)
        training.train(1)
        training.train(10, 3.0)
    training.pause(SAVE, 60.0)
    ledger = build(as_written_by("journal", training.finish()))
    say, told = LANGUAGES[code], findings(ledger)
    assert {"save", "closing-save", "aftermath"} <= {each.id for each in told}
    advice = advise(ledger)
    assert advice
    words = [say.remedy(each) for each in told] + [say.advice(each) for each in advice]
    words += [say.cure(cure) for each in told for cure in cures(each, ledger)]
    assert not [each for each in words if background in each]


def test_who_saves_in_the_background_is_told_to_save_less_or_to_skip() -> None:
    told = cures_of("save", as_written_by("journal", pauses(SAVE)))
    assert {cure.id: cure.change for cure in told.values()} == {
        "save-less": "if saver.due(step, every=1000):",
        "skip-when-busy": 'Saver(when_busy="skip")',
    }


def test_a_log_that_counts_parts_of_steps_gets_no_interval_to_set() -> None:
    run = as_written_by("litgpt", pauses(EVAL))
    run.notes.append(Note("micro-batches"))
    assert cures_of("eval", run)["evaluate-less"].change is None
    assert {each.change for each in advise(build(run))} == {None}


def test_what_a_trainer_does_by_itself_is_no_remedy() -> None:
    run = as_written_by("timm", FINDINGS["epoch-stalls"][0]())
    assert "keep-workers" not in cures_of("epoch-stalls", run)


def test_a_switch_that_only_one_trainer_has_is_told_to_that_one_only() -> None:
    switch = cures_of("save", as_written_by("nanogpt", pauses(SAVE)))["save-if-better"]
    assert switch.change == "always_save_checkpoint = False"
    assert "save-if-better" not in cures_of("save", as_written_by("megatron", pauses(SAVE)))


def test_saving_less_often_is_no_remedy_where_failures_would_cost_more() -> None:
    training = Training(has_wall=True)
    for _ in range(5):
        training.train(100)
        training.pause(SAVE, 2.0)
        training.train(20)
        training.resume(training.step - 20, 1.0, has_banner=True)
    training.train(100)
    cure = cures_of("save", as_written_by("megatron", training.finish()))["save-less"]
    assert (cure.change, cure.saves_s) == (None, None)


def lossy(times: int) -> Run:
    training = Training(has_wall=True)
    for _ in range(times):
        for _ in range(3):
            training.train(1000)
            training.pause(SAVE, 2.0)
        training.train(900)
        training.resume(training.step - 900, 60.0, has_banner=True)
    training.train(500)
    return training.finish()


def test_lost_work_is_answered_with_a_shorter_interval() -> None:
    cure = cures_of("lost", as_written_by("megatron", lossy(times=2)))["save-more"]
    assert cure.change is not None
    name, _, value = cure.change.partition(" ")
    assert name == "--save-interval"
    assert 100 <= int(value) < 200


def test_one_failure_does_not_tell_how_often_to_save() -> None:
    cure = cures_of("lost", as_written_by("megatron", lossy(times=1)))["save-more"]
    assert cure.change is None


def test_a_loader_that_cannot_keep_up_gets_twice_the_workers() -> None:
    run = as_written_by("hf-trainer", FINDINGS["worker-turns"][0]())
    assert cures_of("worker-turns", run)["more-workers"].change == "dataloader_num_workers=16"


def test_epochs_that_begin_slowly_keep_their_workers() -> None:
    run = as_written_by("llama-factory", FINDINGS["epoch-stalls"][0]())
    assert (
        cures_of("epoch-stalls", run)["keep-workers"].change
        == "dataloader_persistent_workers: true"
    )


def test_a_trainer_without_torch_gets_no_line_of_its_loader() -> None:
    run = as_written_by("mxnet", FINDINGS["epoch-stalls"][0]())
    assert cures_of("epoch-stalls", run)["keep-workers"].change is None
    run = as_written_by("metric-logger", FINDINGS["epoch-stalls"][0]())
    assert "persistent_workers" in str(cures_of("epoch-stalls", run)["keep-workers"].change)


def test_a_compile_cache_saves_all_warm_ups_but_the_first() -> None:
    warm = [each for each in FINDINGS["warmup"] if "restart" in each.__qualname__]
    ledger = build(warm[0]())
    (finding,) = [each for each in findings(ledger) if each.id == "warmup"]
    (cure,) = cures(finding, ledger)
    starts = finding.facts["starts"]
    assert isinstance(starts, int)
    assert starts > 1
    assert cure.saves_s == pytest.approx(finding.cost_s * (starts - 1) / starts)


@pytest.mark.parametrize("dialect", ["caffe", "maxtext", "openpi"])
def test_what_is_not_torch_gets_no_variable_of_torch(dialect: str) -> None:
    assert line_for(dialect, "cache-compiled", None) is None


def test_a_line_that_needs_a_value_is_not_given_without_it() -> None:
    assert line_for("nanogpt", "evaluate-less", None) is None


def test_lines_are_for_dialects_that_exist_and_remedies_that_are_named() -> None:
    dialects = {reader.dialect.name for reader in READERS}
    named = {remedy for cause in CATALOGUE for remedy in cause.remedies}
    named |= {remedy for of in INSTEAD.values() for those in of.values() for remedy in those}
    assert set(TRAINERS) | set(ALREADY) | set(INSTEAD) <= dialects
    assert {cause for of in INSTEAD.values() for cause in of} <= {each.id for each in CATALOGUE}
    assert {remedy for lines in TRAINERS.values() for remedy in lines} <= named
    assert set(ANY_TRAINER) <= named


@pytest.mark.parametrize("dialect", sorted(TRAINERS))
def test_lines_are_one_line_of_plain_letters(dialect: str) -> None:
    for line in TRAINERS[dialect].values():
        assert re.fullmatch(r"[ -~]+", line)
        assert line == line.strip()


@pytest.mark.parametrize(
    ("name", "story"),
    [
        pytest.param(name, story, id=f"{name} {number}")
        for name, stories in FINDINGS.items()
        for number, story in enumerate(stories, 1)
    ],
)
def test_no_remedy_saves_more_than_the_finding_costs(name: str, story: Story) -> None:
    run = as_written_by("hf-trainer", story())
    ledger = build(run)
    for finding in findings(ledger):
        told = cures(finding, ledger)
        assert told
        for cure in told:
            assert cure.saves_s is None or 0 <= cure.saves_s <= finding.cost_s * (1 + 1e-9)


def test_the_made_up_dialect_of_these_tests_has_no_lines() -> None:
    assert Training(Sampling.EVERY_STEP, Pauses.SAME).dialect.name not in TRAINERS
