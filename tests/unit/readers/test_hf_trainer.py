"""Hugging Face Trainer: a bar, dictionaries of two versions, and markers."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from instride.steps.model import EventKind, Run, Sampling
from instride.steps.readers.hf_trainer import HFTrainer
from instride.steps.reading import read_with
from instride.steps.source import Source
from tests.unit.readers.drawing import draw
from tests.unit.readers.drawing import read as read_as
from tests.unit.readers.reading import events

BANNER = "***** Running training *****"
WARNING = (
    "/env/lib/python3.10/site-packages/torch/nn/modules/module.py:1802: UserWarning: "
    "Positional args are being deprecated, use kwargs instead. Refer to"
)


def read(lines: list[str]) -> Run:
    return read_as(HFTrainer, lines)


def loss(epoch: float | str, value: float | str = 1.1445) -> str:
    return str({"loss": value, "grad_norm": 0.52, "learning_rate": 3.98e-05, "epoch": epoch})


def steps(
    first: int, last: int, total: int = 1000, step_s: int = 3, every: int = 5, start_s: int = 0
) -> list[str]:
    """Drawings as a Trainer makes them: at a dictionary the bar is cleared and drawn again."""
    lines = []
    for n in range(first, last + 1):
        drawn = draw(n, total, start_s + step_s * (n - first + 1))
        if n % every:
            lines.append(drawn)
        else:
            lines.append(f"{drawn}\r{' ' * 60}\r{loss(round(n / 100, 2))}")
            lines.append(drawn)
    return lines


def test_the_bar_gives_the_steps_and_the_dictionaries_none() -> None:
    run = read([draw(0, 1000, 0), *steps(1, 40)])
    assert list(run.step) == list(range(1, 41))
    assert list(run.wall) == [3.0 * n for n in range(1, 41)]
    assert events(run) == []


def test_an_evaluation_states_how_long_it_took() -> None:
    evaluated = "{'eval_loss': 1.2, 'eval_runtime': 642.6, 'eval_samples_per_second': 3.1}"
    lines = [draw(0, 1000, 0), *steps(1, 20), "***** Running Evaluation *****"]
    lines += [draw(n, 125, 5 * n) for n in range(126)]
    lines += [evaluated, draw(20, 1000, 703), *steps(21, 40, start_s=703)]
    run = read(lines)
    assert list(run.step) == list(range(1, 41))
    assert list(run.wall)[19:21] == [60.0, 706.0]
    assert events(run) == [(EventKind.EVAL, 20, 642.6)]
    assert run.events[0].line == lines.index(evaluated) + 1


@pytest.mark.parametrize("text", ["'eval_runtime': 1728.0", "'eval_runtime': '1.728e+03'"])
def test_numbers_may_be_strings(text: str) -> None:
    lines = [*steps(1, 20), f"{{'eval_loss': '0.21', {text}, 'epoch': '2'}}", *steps(21, 40)]
    assert events(read(lines))[0] == (EventKind.EVAL, 20, 1728.0)


def test_evaluations_of_several_sets_add_up_but_not_those_of_two_nodes() -> None:
    lines = [
        *steps(1, 20),
        "{'eval_dev_loss': 1.2, 'eval_dev_runtime': 20.0}",
        "{'eval_dev_loss': 1.2, 'eval_dev_runtime': 21.5}",
        "{'eval_test_loss': 1.3, 'eval_test_runtime': 10.0}",
        *steps(21, 40, start_s=100),
    ]
    assert events(read(lines)) == [(EventKind.EVAL, 20, 31.5)]


def test_an_evaluation_is_known_by_its_bar_alone() -> None:
    lines = [*steps(1, 20), *[draw(n, 125, 5 * n) for n in range(126)]]
    run = read([*lines, *steps(21, 40, start_s=700)])
    assert list(run.step) == list(range(1, 41))
    assert [(e.kind, e.at, e.sure) for e in run.events] == [(EventKind.EVAL, 20, True)]


def test_the_banner_tells_which_bar_is_the_training() -> None:
    """Here the evaluations take longer, and have more updates, than the training."""
    lines = [BANNER, "  Total optimization steps = 1,000", draw(0, 1000, 0), *steps(1, 8)]
    for _ in range(8):
        lines += [draw(n, 500, 9 * n) for n in range(501)]
    run = read([*lines, *steps(9, 12, start_s=40_000)])
    assert list(run.step) == list(range(1, 13))


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("Saving model checkpoint to out/checkpoint-20", EventKind.SAVE),
        ("[INFO|trainer.py:2889] >> Saving model checkpoint to ./out/tmp-20", EventKind.SAVE),
        ("Deleting older checkpoint [out/checkpoint-10] due to args.save_total_limit", "cleanup"),
        ("***** Running Evaluation *****", EventKind.EVAL),
        ("***** Running Prediction *****", EventKind.EVAL),
        ("{'eval_loss': 1.2, 'epoch': 0.2}", EventKind.EVAL),
    ],
)
def test_pauses_are_marked_before_the_next_step(line: str, kind: EventKind) -> None:
    run = read([*steps(1, 20), line, *steps(21, 40, start_s=60)])
    assert events(run) == [(kind, 20, None)]
    assert run.events[0].sure


def test_a_warning_of_taking_the_state_hints_at_a_save() -> None:
    lines = steps(1, 20)
    run = read([*lines[:-1], lines[-1] + WARNING, "  warnings.warn(", *steps(21, 40, start_s=150)])
    assert [(e.kind, e.at, e.sure) for e in run.events] == [(EventKind.SAVE, 20, False)]
    assert read([*lines, WARNING.replace("torch/nn", "my/nn")]).events == []


def test_a_marker_makes_a_hint_sure() -> None:
    save = "Saving model checkpoint to out/checkpoint-20"
    run = read([*steps(1, 20), save, WARNING, *steps(21, 40, start_s=60)])
    assert [(e.kind, e.sure) for e in run.events] == [(EventKind.SAVE, True)]


def test_the_end_states_the_whole_time_and_the_bar_is_drawn_once_more() -> None:
    summary = "{'train_runtime': 145.5, 'train_steps_per_second': 0.275, 'epoch': 0.4}"
    last = [summary, draw(40, 40, 145), "Saving model checkpoint to out"]
    run = read([draw(0, 40, 0), *steps(1, 40, 40), *last])
    assert run.total_s == 145.5
    assert events(run) == [(EventKind.END, 40, None), (EventKind.SAVE, 40, None)]
    assert [end.wall for end in run.ends] == [145.0]


def test_a_resumed_process_has_a_bar_of_its_own() -> None:
    resumed = [
        BANNER,
        "  Total optimization steps = 1,000",
        "  Continuing training from checkpoint, will skip to saved global_step",
        draw(0, 1000, 0),
        draw(20, 20, 9, "Skipping the first batches"),
    ]
    run = read([BANNER, draw(0, 1000, 0), *steps(1, 430), "Killed", *resumed, *steps(401, 440)])
    assert list(run.step) == [*range(1, 431), *range(401, 441)]
    assert events(run) == [
        (EventKind.START, 0, None),
        (EventKind.START, 430, None),
        (EventKind.LOAD, 430, None),
    ]


def test_a_second_training_of_the_same_length_is_no_epoch() -> None:
    run = read([draw(0, 20, 0), *steps(1, 20, 20), draw(0, 20, 0), *steps(1, 20, 20)])
    assert list(run.step) == [*range(1, 21), *range(1, 21)]
    assert events(run) == [(EventKind.START, 20, None)]


@pytest.mark.parametrize("prefix", ["[rank0]: ", "(TrainWorker pid=7) "])
def test_prefixes_do_not_matter(prefix: str) -> None:
    plain = [draw(0, 1000, 0), *steps(1, 20)]
    prefixed = [prefix + piece for line in plain for piece in line.split("\r")]
    assert list(read(prefixed).step) == list(range(1, 21))


def test_mangled_dictionaries_and_markers_are_left_out() -> None:
    mangled = [
        "{'loss': nan, 'grad_norm': nan, 'learning_rate': 0.0, 'epoch': 0.1}",
        "{'loss': 1.1, 'learning_ra",
        "{'eval_loss': 1.2, 'eval_runtime': 64.2.6}",
        "{'train_runtime': 1e, 'train_loss",
        "  Total optimization steps = ,,,",
    ]
    run = read([*steps(1, 20), *mangled, *steps(21, 40, start_s=60)])
    assert list(run.step) == list(range(1, 41))
    assert run.total_s is None


class TestWithoutABar:
    """With `disable_tqdm` only dictionaries are printed, without a step."""

    def test_a_total_from_the_banner_numbers_the_steps(self) -> None:
        lines = [BANNER, "  Num Epochs = 3", "  Total optimization steps = 1,503"]
        lines += [loss(round(25 * n / 501, 2)) for n in range(1, 61)]
        run = read([*lines, "{'train_runtime': 3006.0, 'train_loss': 0.5, 'epoch': 3.0}"])
        assert list(run.step) == list(range(25, 1501, 25))
        assert run.total_s == 3006.0
        assert run.dialect.sampling is Sampling.TOTALS
        assert events(run)[-1] == (EventKind.END, 60, None)
        assert len(run.notes) == 1

    def test_steps_a_second_number_the_steps(self) -> None:
        lines = [loss(f"{25 * n / 131:.4g}", "0.3") for n in range(1, 201)]
        lines.insert(40, "{'eval_loss': '0.2', 'eval_runtime': '1728', 'epoch': '7.634'}")
        summary = "{'train_runtime': '7.735e+04', 'train_steps_per_second': '0.065', 'epoch': '38'}"
        run = read([*lines, summary])
        assert list(run.step) == list(range(25, 5001, 25))
        assert events(run)[0] == (EventKind.EVAL, 40, 1728.0)

    def test_a_run_that_goes_on_is_numbered_by_the_steps_of_an_epoch(self) -> None:
        lines = [BANNER, "  Num update steps per epoch = 501"]
        run = read(lines + [loss(25 * n / 501) for n in range(1, 61)])
        assert list(run.step) == list(range(25, 1501, 25))

    def test_times_in_front_of_the_lines_are_the_clock(self) -> None:
        lines = ["  Num update steps per epoch = 50"]
        lines += [f"2026-01-01T00:0{n}:00Z {loss(n / 5)}" for n in range(1, 6)]
        run = read(lines)
        assert list(run.step) == [10, 20, 30, 40, 50]
        assert [after - before for before, after in pairwise(run.wall)] == [60.0] * 4
        assert run.clock_is_absolute
        assert run.dialect is HFTrainer.dialect

    @pytest.mark.parametrize(
        "lines",
        [
            [loss(round(25 * n / 501, 2)) for n in range(1, 61)],
            ["  Num update steps per epoch = 24758", *[loss(0.0), loss(0.0), loss(0.01)]],
            ["  Num update steps per epoch = 50", *[loss(n / 5) for n in (1, 2, 4, 5)]],
            ["  Num update steps per epoch = 50", loss(0.2), "{'loss': 1.1, 'reward': 2}"],
        ],
    )
    def test_what_is_not_certain_is_not_guessed(self, lines: list[str]) -> None:
        assert len(read(lines)) == 0

    def test_a_short_bar_of_something_else_is_not_the_training(self) -> None:
        lines = ["  Num update steps per epoch = 501", *[draw(n, 3, n) for n in range(4)]]
        run = read(lines + [loss(25 * n / 501) for n in range(1, 61)])
        assert list(run.step) == list(range(25, 1501, 25))


def test_only_dictionaries_of_a_step_are_recognised() -> None:
    assert HFTrainer.sniff(loss(0.07))
    assert HFTrainer.sniff(loss("0.07", "1.145"))
    assert HFTrainer.sniff("{'rewards/margins': 0.1, 'loss': 0.69, 'epoch': 0.01}")
    assert not HFTrainer.sniff(draw(12, 512, 28))
    assert not HFTrainer.sniff("{'eval_loss': 1.2, 'eval_runtime': 642.6, 'epoch': 0.1}")
    assert not HFTrainer.sniff('{"loss": 1.2, "epoch": 0.1, "step": 5}')


def test_a_real_log_has_one_pause_that_a_warning_hints_at(cases: Path) -> None:
    run = read_with(HFTrainer, [Source(str(cases / "hf-trainer-tqdm-midslice.out"))])
    assert list(run.step) == list(range(1700, 2890))
    assert run.wall[301] - run.wall[300] == 98.0
    assert [(e.kind, e.at, e.sure) for e in run.events] == [(EventKind.SAVE, 301, False)]
    assert run.first_clock is None
