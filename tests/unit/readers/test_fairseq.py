"""fairseq: text and JSON, timestamps or a running total, evaluation and save before the record."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from math import isnan

import pytest

from instride.steps.model import EventKind, Run
from instride.steps.readers.fairseq import Fairseq
from tests.unit.readers.reading import run_of


def read(lines: Iterable[str]) -> Run:
    return run_of(Fairseq, lines)


def stamped(seconds: int, text: str) -> str:
    return f"2026-01-02 03:{seconds // 60:02}:{seconds % 60:02} | INFO | {text}"


def text(update: int, wall: int, wps: float = 50000.0, place: int | None = None) -> str:
    return (
        f"epoch 001: {place or update:6} / 1605 loss=11.2, nll_loss=10.4, ppl=1351.2, wps={wps:g}, "
        f"ups=1.95, wpb=25600, bsz=812.5, num_updates={update}, lr=2.5e-05, gnorm=1.9, "
        f"loss_scale=128, train_wall=50, gb_free=3.1, wall={wall}"
    )


def as_json(update: int, wall: int) -> str:
    fields = {"epoch": 1, "update": round(update / 1605, 3), "loss": "11.2", "wps": "50000"}
    fields |= {"ups": "1.95", "wpb": "25600", "num_updates": str(update), "train_wall": "50"}
    return json.dumps(fields | {"wall": str(wall)})


@pytest.mark.parametrize("form", [text, as_json])
def test_updates_have_the_average_time_of_their_interval(form: Callable[[int, int], str]) -> None:
    run = read(stamped(51 * i, f"train_inner | {form(100 * i, 51 * i)}") for i in range(1, 4))
    assert list(run.step) == [100, 200, 300]
    assert list(run.seconds) == pytest.approx([0.512] * 3)
    assert [wall - run.wall[0] for wall in run.wall] == [0, 51, 102]
    assert run.clock_is_absolute
    assert run.clock_resolution_s == 1.0


def test_without_timestamps_the_running_total_is_the_clock() -> None:
    run = read(f"| {text(100 * i, 51 * i)}, oom=0" for i in range(1, 4))
    assert list(run.wall) == [51, 102, 153]
    assert not run.clock_is_absolute


def test_averages_since_the_start_are_not_taken_for_the_time_of_an_interval() -> None:
    assert isnan(read([f"| {text(100, 51)}"]).seconds_at(0))


def test_the_number_of_updates_goes_before_the_place_in_the_epoch() -> None:
    assert list(read([f"| {text(95, 51, place=100)}"]).step) == [95]
    without = text(95, 51, place=100).replace(" num_updates=95,", "").replace("001:", "003:")
    assert list(read([f"| {without}"]).step) == [2 * 1605 + 100]


def test_large_counts_are_read_as_they_are_printed() -> None:
    lines = [f"train_inner | {text(1, 9)}".replace("num_updates=1,", "num_updates=1.0001e+06,")]
    assert list(read(lines).step) == [1000100]


def test_evaluation_save_and_epoch_are_events() -> None:
    run = read(
        [
            stamped(51, f"train_inner | {text(100, 51)}"),
            stamped(52, 'fairseq_cli.train | begin validation on "valid" subset'),
            stamped(60, "valid | epoch 001 | valid on 'valid' subset | loss 9.1 | wall 0"),
            stamped(
                60,
                "fairseq.checkpoint_utils | Preparing to save checkpoint for epoch 1 @ 100 updates",
            ),
            stamped(
                72,
                "fairseq.checkpoint_utils | Saved checkpoint ckpt/checkpoint1.pt "
                "(epoch 1 @ 100 updates, score 9.1) (writing took 12.25 seconds)",
            ),
            stamped(73, "fairseq.trainer | begin training epoch 2"),
            stamped(123, f"train_inner | {text(200, 123)}"),
            stamped(124, "fairseq_cli.train | done training in 123.4 seconds"),
        ]
    )
    assert [(event.kind, event.at, event.step, event.seconds) for event in run.events] == [
        (EventKind.EVAL, 1, None, None),
        (EventKind.SAVE, 1, 100, 12.25),
        (EventKind.EPOCH, 1, None, None),
        (EventKind.END, 2, None, None),
    ]


def test_summaries_of_an_epoch_are_no_records() -> None:
    run = read(
        [
            stamped(9, "train | epoch 001 | loss 9.1 | num_updates 1605 | train_wall 800 | wall 9"),
            stamped(
                9,
                'train | {"epoch": 1, "train_loss": "9.1", "train_num_updates": "1605", '
                '"train_train_wall": "800", "train_wall": "9"}',
            ),
        ]
    )
    assert len(run) == 0


def test_a_resumed_process_starts_once_and_loads() -> None:
    run = read(
        [
            stamped(0, "fairseq_cli.train | Namespace(activation_fn='relu', adam_eps=1e-08)"),
            stamped(20, "fairseq_cli.train | training on 8 devices (GPUs/TPUs)"),
            stamped(30, "fairseq.trainer | Loaded checkpoint c/last.pt (epoch 2 @ 100 updates)"),
            stamped(90, f"train_inner | {text(200, 60)}"),
        ]
    )
    assert [(event.kind, event.at) for event in run.events] == [
        (EventKind.START, 0),
        (EventKind.LOAD, 0),
    ]
    assert run.first_clock is not None
    assert run.wall[0] - run.first_clock.wall == 90


def test_damaged_records_are_not_read() -> None:
    whole = f"train_inner | {text(100, 51)}"
    lines = [whole[:-2], whole.replace("/ 1605", "/"), whole.replace("=100,", "=" + "9" * 400)]
    assert not any(map(len, map(read, ([line] for line in lines[:2]))))
    assert list(read([lines[2]]).step) == [100]
