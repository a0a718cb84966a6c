"""Guessed readers beyond the plain case: pauses, restarts, several ranks, epochs, tables."""

from __future__ import annotations

from math import isnan

from instride.steps.model import EventKind
from instride.steps.notes import Note
from tests.unit.readers.guessing import read, record, records
from tests.unit.readers.reading import events


def test_markers_between_records_are_events() -> None:
    lines = [
        "Starting training",
        "compiling the model...",
        *records(0, 9),
        "Validation loss: 2.512",
        "Saving checkpoint to out/10.pt",
        *records(10, 19),
        "checkpoint saved in 12.5 s",
        *records(20, 29),
        "Deleting old checkpoint out/10.pt",
        "Training complete",
    ]
    assert events(read(lines)) == [
        ("start", 0, None),
        ("compile", 0, None),
        ("eval", 10, None),
        ("save", 10, None),
        ("save", 20, 12.5),
        ("cleanup", 30, None),
        ("end", 30, None),
    ]


def test_an_evaluation_in_the_shape_of_a_record_is_no_record() -> None:
    lines = []
    for n in range(40):
        lines.append(record(n))
        if n % 10 == 9:
            lines += [f"[val] step {i} | loss 2.500 | dt 0.100 s" for i in range(3)]
            lines.append(f"step {n} | val loss 2.600 | dt 4.000 s")
    run = read(lines)
    assert list(run.step) == list(range(40))
    assert events(run) == [("eval", at, None) for at in (10, 20, 30, 40)]


def test_batches_of_an_announced_evaluation_are_no_records() -> None:
    lines = []
    for epoch in range(1, 4):
        lines += [f"Epoch {epoch}/3"]
        lines += [f"step {n}/60 - loss: 2.5 - acc: 0.5 - 500ms/step" for n in range(10, 70, 10)]
        lines += ["Eval begin..."]
        lines += [f"step {n}/20 - loss: 2.5 - acc: 0.5 - 100ms/step" for n in range(5, 25, 5)]
        lines += ["Eval samples: 640"]
    run = read(lines)
    assert list(run.step) == list(range(10, 190, 10))
    assert {kind for kind, _, _ in events(run)} == {"eval", "epoch"}
    assert sorted({at for kind, at, _ in events(run) if kind == "eval"}) == [6, 12, 18]


def test_the_results_of_an_evaluation_may_stand_in_a_record() -> None:
    lines = [record(n) + (" | val_loss 2.5" if n in (10, 20) else "") for n in range(30)]
    run = read(lines)
    assert list(run.step) == list(range(30))
    assert events(run) == [("eval", 10, None), ("eval", 20, None)]


def test_lines_of_JSON_that_are_events_are_no_records() -> None:
    lines = [f'{{"step": {n}, "loss": 2.5, "step_time": 0.5}}' for n in range(20)]
    lines.insert(10, '{"event": "save", "step": 10, "seconds": 7.5}')
    lines.insert(5, '{"step": 5, "split": "val", "loss": 2.5, "step_time": 3.5}')
    run = read(lines)
    assert list(run.step) == list(range(20))
    assert events(run) == [("eval", 5, None), ("save", 10, 7.5)]


def test_a_resumed_run_is_told_as_it_is() -> None:
    lines = [*records(0, 29), "Starting training", "Resuming from checkpoint 20.pt"]
    run = read([*lines, *records(21, 40)])
    assert list(run.step) == [*range(30), *range(21, 41)]
    assert events(run) == [("start", 30, None), ("load", 30, None)]


def test_several_ranks_that_print_the_same_are_one_run() -> None:
    lines = [f"[rank{rank}]: {record(n)}" for n in range(50) for rank in range(4)]
    run = read(lines)
    assert list(run.step) == list(range(50))
    assert run.num_duplicates == 150


def test_epochs_on_lines_of_their_own_are_counted_through() -> None:
    lines = []
    for epoch in (1, 2, 3):
        lines.append(f"Epoch {epoch}/3")
        lines += [f"  batch {i}/40 loss 2.5 {400 + i} ms" for i in range(10, 41, 10)]
    run = read(lines)
    assert list(run.step) == list(range(10, 121, 10))
    assert [event.at for event in run.events if event.kind is EventKind.EPOCH] == [4, 8]


def test_steps_that_go_on_through_the_epochs_are_left_alone() -> None:
    lines = [f"epoch {n // 10} step {n * 5} loss 2.5 time {500 + n} ms" for n in range(40)]
    assert list(read(lines).step) == [n * 5 for n in range(40)]


def test_the_second_epoch_may_come_after_what_was_learnt() -> None:
    printed = [(epoch, i) for epoch in (1, 2, 3) for i in range(10, 51, 10)]
    lines = [f"Epoch {epoch} [{i}/50] loss 2.5 time {500 + i} ms" for epoch, i in printed]
    assert list(read(lines, learnt_from=lines[:5]).step) == list(range(10, 151, 10))


def test_a_table_may_be_written_by_several_processes() -> None:
    header = "step,loss,seconds,val_loss"
    first = [f"{n},2.5,0.5,{'2.6' if n == 5 else ''}" for n in range(10)]
    second = [f"{n},2.5,0.5," for n in range(5, 15)]
    run = read([header, *first, header, *second])
    assert list(run.step) == [*range(10), *range(5, 15)]
    assert events(run) == [("eval", 5, None), ("start", 10, None)]


def test_rows_of_a_table_that_hold_results_only_are_no_steps() -> None:
    rows = []
    for n in range(20):
        rows.append(f"{n},2.5,0.{50 + n % 3},")
        if n % 5 == 4:
            rows.append(f"{n},,,2.75")
    run = read(["step,train_loss,step_time,val_loss", *rows])
    assert list(run.step) == list(range(20))
    assert events(run) == [("eval", at, None) for at in (5, 10, 15, 20)]


def test_quoted_cells_and_missing_ones_are_read() -> None:
    rows = [f'"{n}","a, b",{0.5 if n != 3 else ""}' for n in range(10)]
    run = read(['"step","note","step_time"', *rows])
    assert list(run.step) == list(range(10))
    assert isnan(run.seconds[3])


def test_an_epoch_that_counts_samples_is_read_in_batches() -> None:
    lines = [
        f"Epoch {epoch}[{count}/5011]: loss:0.71, lr:0.001, batch time:0.3100, data time:0.0003"
        for epoch in range(1, 8)
        for count in (16, 1616, 3216, 4816)
    ]
    run = read(lines)
    assert list(run.step)[:6] == [1, 101, 201, 301, 315, 415]
    assert Note("batch-size", {"size": 16}) in run.notes


def test_an_epoch_whose_first_record_is_the_distance_of_records_counts_steps() -> None:
    lines = [
        f"Epoch {epoch}[{count}/300]: loss:0.71, lr:0.001, batch time:0.3100, data time:0.0003"
        for epoch in range(1, 8)
        for count in (100, 200, 300)
    ]
    assert list(read(lines).step)[:4] == [100, 200, 300, 400]


def test_a_log_that_begins_again_with_its_first_lines_is_of_another_launch() -> None:
    head = ["2026-01-02 03:00:0{} main: settings", "  lr: 0.1", "  model: small", "  seed: 3"]

    def launch(hour: int, num_steps: int) -> list[str]:
        opening = [head[0].format(hour), *head[1:]]
        steps = [
            f"2026-01-02 0{hour}:01:{step:02} main: step: {step}, loss: 2.5"
            for step in range(1, num_steps + 1)
        ]
        return opening + steps

    run = read([*launch(3, 40), *launch(4, 30), *launch(5, 0)])
    starts = [event for event in run.events if event.kind is EventKind.START]
    assert [event.at for event in starts] == [40, 70]
    assert [event.line for event in starts] == [45, 79]


def test_a_launch_that_is_announced_twice_in_a_moment_counts_once() -> None:
    lines = [
        "2026-01-02 03:00:00 main: Starting training",
        "2026-01-02 03:00:00 trainer: Starting training on 8 devices",
        "2026-01-02 03:10:00 main: Starting training",
        *(f"2026-01-02 03:11:{step:02} main: step: {step}, loss: 2.5" for step in range(1, 40)),
    ]
    starts = [event.line for event in read(lines).events if event.kind is EventKind.START]
    assert starts == [1, 3]


def test_a_bar_that_was_not_ended_does_not_make_a_record_an_evaluation() -> None:
    lines = [
        f"Validation: |          | 0/? [00:00<?, ?it/s][2026-01-02 03:{minute:02}:00] INFO "
        f"Epoch {minute}: loss 0.5  v_loss 0.6"
        for minute in range(40)
    ]
    assert list(read(lines).step) == list(range(40))
