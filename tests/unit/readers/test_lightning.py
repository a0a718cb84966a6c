"""PyTorch Lightning: a bar for every epoch, validations below it, checkpoints by global step."""

from __future__ import annotations

import pytest

from instride.steps.model import EventKind, Run
from instride.steps.readers.lightning import Lightning
from instride.steps.reading import detect
from tests.unit.readers.drawing import draw
from tests.unit.readers.drawing import read as read_as
from tests.unit.readers.reading import events

LOGGED = "v_num=3, train_loss=2.310"


def read(lines: list[str]) -> Run:
    return read_as(Lightning, lines)


def epoch(number: int, total: int, step_s: int, begin_s: int = 0, begin: int = 0) -> list[str]:
    name = f"Epoch {number}"
    drawn = [] if begin else [draw(0, total, 0, name, more=LOGGED)]
    return drawn + [
        draw(n, total, begin_s + (n - begin) * step_s, name, more=LOGGED)
        for n in range(begin + 1, total + 1)
    ]


def validation(total: int, step_s: int) -> list[str]:
    waiting = "Validation: |          | 0/? [00:00<?, ?it/s]"
    bars = [draw(n, total, n * step_s, "Validation DataLoader 0") for n in range(total + 1)]
    return [waiting, *bars]


def test_steps_count_on_through_the_epochs() -> None:
    run = read([*epoch(0, 20, 3), *epoch(1, 20, 3), *epoch(2, 20, 3)])
    assert list(run.step) == list(range(1, 61))
    assert list(run.wall) == [3.0 * n for n in range(1, 61)]
    assert (run.clock_is_absolute, run.clock_resolution_s) == (False, 1.0)


def test_a_validation_after_an_epoch_is_in_the_last_drawing_of_its_bar() -> None:
    closing = draw(20, 20, 100, "Epoch 0", more=f"{LOGGED}, val_loss=2.1")
    run = read([*epoch(0, 20, 3), *validation(4, 10), closing, *epoch(1, 20, 3)])
    assert list(run.step) == list(range(1, 41))
    assert list(run.wall)[19:21] == [60.0, 103.0]
    assert [event[:2] for event in events(run)] == [(EventKind.EVAL, 20), (EventKind.EPOCH, 20)]


def test_a_validation_inside_an_epoch_lies_before_the_next_step() -> None:
    first = epoch(0, 20, 3)[:11]
    rest = epoch(0, 20, 3, begin_s=70, begin=10)
    run = read([*first, *validation(4, 10), *rest])
    assert list(run.step) == list(range(1, 21))
    assert list(run.wall)[9:11] == [30.0, 73.0]
    assert events(run) == [(EventKind.EVAL, 10, None)]


def test_the_sanity_check_is_no_training() -> None:
    sanity = [draw(n, 2, n * 20, "Sanity Checking DataLoader 0") for n in range(3)]
    assert list(read([*sanity, *epoch(0, 20, 3)]).step) == list(range(1, 21))


def test_bars_without_strokes_are_read() -> None:
    """As notebooks write them into files."""
    lines = [line.replace("|", "") for line in epoch(0, 20, 3)]
    assert Lightning.sniff(lines[1])
    assert list(read(lines).step) == list(range(1, 21))


def test_checkpoints_launches_and_loads_are_marked() -> None:
    lines = [
        "GPU available: True (cuda), used: True",
        *epoch(0, 20, 3),
        "Epoch 0, global step 20: 'val_loss' reached 2.1 (best 2.1), saving model to 'e.ckpt' as "
        "top 1",
        *epoch(1, 20, 3),
        "`Trainer.fit` stopped: `max_epochs=2` reached.",
        "GPU available: True (cuda), used: True",
        "Restoring states from the checkpoint path at e.ckpt",
        *epoch(1, 20, 3),
    ]
    found = [(event.kind, event.at, event.step) for event in read(lines).events]
    assert (EventKind.SAVE, 20, 20) in found
    assert (EventKind.END, 40, None) in found
    assert (EventKind.START, 40, None) in found
    assert (EventKind.LOAD, 40, None) in found


def test_a_marker_glued_to_a_bar_is_found() -> None:
    last = epoch(0, 20, 3)[-1] + "`Trainer.fit` stopped: `max_epochs=1` reached."
    run = read([*epoch(0, 20, 3), last])
    assert EventKind.END in [event.kind for event in run.events]


def test_a_metric_that_did_not_improve_is_no_save() -> None:
    line = "Epoch 0, global step 20: 'val_loss' was not in top 1"
    assert events(read([*epoch(0, 20, 3), line])) == []


def test_an_epoch_of_unknown_length_is_read() -> None:
    lines = [
        f"Epoch {number}: |          | {n}/? [00:{3 * n:02}<00:00,  9.99it/s, {LOGGED}]"
        for number in range(2)
        for n in range(1, 19)
    ]
    assert detect(enumerate(lines, 1)) is Lightning
    run = read(lines)
    assert list(run.step) == list(range(1, 37))
    assert run.wall[10] - run.wall[9] == 3.0


def test_it_is_preferred_to_a_bar_of_any_kind() -> None:
    lines = [*epoch(0, 20, 3), *validation(4, 10)]
    assert detect(enumerate(lines, 1)) is Lightning


@pytest.mark.parametrize(
    "line",
    [
        draw(12, 100, 9, "Epoch 1", more="loss=2.1"),
        draw(12, 100, 9, "train", more="v_num=3"),
        "Epoch 0:  12%|#2  v_num=3",
        draw(3, 4, 30, "Validation DataLoader 0"),
    ],
)
def test_other_bars_are_not_recognised(line: str) -> None:
    assert not Lightning.sniff(line)
