"""Guessed readers beyond the plain case: pauses, restarts, several ranks, clocks, broken lines."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import isnan
from pathlib import Path
from time import perf_counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instride.steps.model import EventKind, Pauses, Run, Sampling
from instride.steps.notes import Note
from instride.steps.readers.contract import LONGEST_LINE
from instride.steps.readers.guess import SAMPLE_LINES, Guess, guess
from instride.steps.recording import Recording
from instride.steps.source import Source


def learn(lines: Sequence[str]) -> Guess:
    found = guess(list(enumerate(lines, 1)))
    assert found is not None
    return found


def read(lines: Sequence[str], learnt_from: Sequence[str] | None = None) -> Run:
    reader_type = learn(learnt_from or lines).reader
    log = Recording(reader_type.dialect)
    reader = reader_type(log)
    for number, line in enumerate(lines, 1):
        reader.feed(number, line)
    reader.finish()
    return log.finish()


def events(run: Run) -> list[tuple[str, int, float | None]]:
    return [(event.kind.value, event.at, event.seconds) for event in run.events]


def record(n: int, seconds: float = 0.5) -> str:
    return f"step {n} | loss {3 - n / 100:.3f} | dt {seconds:.3f} s"


def records(first: int, last: int) -> list[str]:
    return [record(n) for n in range(first, last + 1)]


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


def test_a_duration_of_all_steps_between_is_divided_by_them() -> None:
    seconds = [50.0, 52.5, 49.0, 51.0, 50.5, 90.0, 50.0, 51.5]
    clock = accumulate(seconds)
    lines = [
        f"2025-03-01 10:{int(t) // 60:02}:{t % 60:06.3f} step {n * 100} loss 2.5 took {s:.1f} s"
        for n, (t, s) in enumerate(zip(clock, seconds, strict=True), 1)
    ]
    run = read(lines)
    assert list(run.seconds) == pytest.approx([s / 100 for s in seconds])
    assert run.dialect.sampling is Sampling.AVERAGE
    assert run.notes[0].facts["between"] == 1


def test_milliseconds_without_a_unit_are_found_out_by_the_clock() -> None:
    lines = [f"10:00:{n * 0.5:06.3f} step {n} loss 2.5 time {500 + n % 3}.5" for n in range(30)]
    run = read(lines)
    assert run.seconds[3] == pytest.approx(0.5005)
    facts = run.notes[0].facts
    assert (facts["unit"], facts["time"], facts["time_at"]) == ("milliseconds", "time", "after")


def test_a_duration_that_the_clock_contradicts_is_not_used() -> None:
    lines = [f"10:00:{n:06.3f} step {n} loss 2.5 queue time {40 + n % 7} s" for n in range(30)]
    run = read(lines)
    assert all(isnan(seconds) for seconds in run.seconds)
    assert [after - before for before, after in pairwise(run.wall)] == pytest.approx([1.0] * 29)


def test_the_time_until_the_end_is_not_that_of_a_step() -> None:
    lines = [
        f"2025-03-01 10:{n // 6:02}:{n % 6 * 10:02},000 INFO: Iters: {10 * n}/9000 || Loss: 5.7 || "
        f"Cost Time: 0:{n // 6:02}:{n % 6 * 10:02} || Estimated Time: 4:{47 - n // 6:02}:{n % 7:02}"
        for n in range(60)
    ]
    run = read(lines)
    assert all(isnan(seconds) for seconds in run.seconds)
    assert [after - before for before, after in pairwise(run.wall)] == pytest.approx([10.0] * 59)


def test_hours_and_minutes_are_never_milliseconds() -> None:
    lines = [f"10:00:{n:06.3f} step {n} loss 2.5 time 0:16:{30 + n % 20}" for n in range(30)]
    assert all(isnan(seconds) for seconds in read(lines).seconds)


def test_averages_are_not_trusted_beside_a_clock() -> None:
    lines = [
        f"step {n} loss 2.5 total {n * 0.5 + 3:.1f} s avg {3 / (n + 1) + 0.5:.3f} s"
        for n in range(30)
    ]
    run = read(lines)
    assert all(isnan(seconds) for seconds in run.seconds)
    assert run.wall[1] - run.wall[0] == pytest.approx(0.5)
    assert not run.clock_is_absolute


def test_a_clock_that_starts_with_the_process_is_its_own() -> None:
    lines = [f"[00:{n // 60:02}:{n % 60:02}] step {n} loss 2.5" for n in range(1, 90)]
    run = read(lines)
    assert not run.clock_is_absolute
    assert run.clock_resolution_s == 1.0
    assert list(run.wall[:3]) == [1.0, 2.0, 3.0]


def test_a_clock_that_starts_with_the_process_starts_anew_with_the_next_one() -> None:
    lines = [f"[0{n // 60}:{n % 60:02}:00] step {n} loss 2.5" for n in range(1, 200)]
    run = read([*lines, *(line.replace("step ", "step 1") for line in lines[100:102]), *lines[:2]])
    assert list(run.wall[-2:]) == [60.0, 120.0]


def test_a_restart_on_another_machine_is_read_on() -> None:
    lines = [f"2025-03-01 10:00:{n:02} [longhostname7] step {n} loss 2.5" for n in range(30)]
    other = [line.replace("longhostname7", "node8").replace("10:", "11:") for line in lines]
    assert len(read([*lines, *other], learnt_from=lines)) == 60


def test_whole_seconds_are_said_to_be_coarse() -> None:
    lines = [f"2025-03-01 10:{n // 60:02}:{n % 60:02} step {n} loss 2.5" for n in range(90)]
    run = read(["2025-03-01 09:59:30 hello", *lines, "2025-03-01 10:05:00 bye"])
    assert run.clock_resolution_s == 1.0
    assert run.first_clock is not None
    assert run.wall[0] - run.first_clock.wall == 30.0
    assert [end.wall - run.wall[-1] for end in run.ends] == [211.0]


def test_pauses_that_are_stated_but_not_in_the_durations_are_recognised() -> None:
    lines = [*records(0, 9), "saved checkpoint in 30.0 s", *records(10, 19)]
    assert read(lines).dialect.pauses is Pauses.NONE
    lines[11] = record(10, 30.5)
    assert read(lines).dialect.pauses is Pauses.SAME


def test_steps_without_any_time_are_found_so_that_this_can_be_said() -> None:
    lines = [f"Epoch [1/5], Step [{n * 100}/6000], Loss: {3 - n / 50:.4f}" for n in range(1, 30)]
    run = read(lines)
    assert list(run.step) == [n * 100 for n in range(1, 30)]
    assert all(isnan(value) for value in (*run.seconds, *run.wall))
    assert not run.notes[0].facts.keys() & {"time", "elapsed", "stamp", "clock"}


@pytest.mark.parametrize("odd", ["nan", "inf", "n/a", "NaN"])
def test_a_time_that_is_no_number_is_unknown(odd: str) -> None:
    lines = [record(n) if n != 7 else f"step 7 | loss nan | dt {odd} s" for n in range(20)]
    run = read(lines)
    assert list(run.step) == list(range(20))
    assert [n for n in range(20) if isnan(run.seconds[n])] == [7]


@pytest.mark.parametrize(
    "broken",
    [
        "step 7 | lo",
        "step 7 | loss 2.9 | dt ",
        "step | loss 2.9 | dt 0.5 s",
        "step " + "9" * 5000 + " | loss 2.9 | dt 0.5 s",
        "step 7 | loss 2.9 | dt " + "9" * 5000 + " s",
        "step 7 | loss 2.9 | dt 0.5.5,5 s",
        "step 3.5 | loss 2.9 | dt 0.5 s",
    ],
)
def test_broken_lines_do_no_harm(broken: str) -> None:
    lines = records(0, 30)
    run = read([*lines[:7], broken, *lines[8:]], learnt_from=lines)
    assert list(run.step)[:7] == list(range(7))
    assert list(run.step)[-23:] == list(range(8, 31))
    assert len(run) <= 31


@pytest.mark.parametrize(
    "garbage", ["step " * 13_000, "dt 1 " * 13_000, "x" * LONGEST_LINE, "step 1 | loss " * 4_600]
)
def test_long_garbage_is_passed_over_quickly(garbage: str) -> None:
    lines = records(0, 30)
    started = perf_counter()
    run = read([*lines, *[garbage[:LONGEST_LINE]] * 5], learnt_from=lines)
    assert perf_counter() - started < 2
    assert len(run) == 31


def test_learning_takes_a_bounded_number_of_lines() -> None:
    lines = [*(["nothing to see"] * SAMPLE_LINES), *records(0, 50)]
    assert guess(list(enumerate(lines, 1))) is None
    assert guess(list(enumerate(lines[100:], 1))) is not None


@settings(max_examples=50, deadline=None)
@given(st.lists(st.text(max_size=60), max_size=12))
def test_no_line_is_too_strange(strange: list[str]) -> None:
    lines = records(0, 12)
    mixed = [*lines, *strange, *(f"step {text} | loss {text} | dt {text} s" for text in strange)]
    run = read(mixed, learnt_from=lines)
    assert list(run.step[:13]) == list(range(13))
    found = guess(list(enumerate(strange, 1)))
    assert found is None or found.note.facts


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


REAL = {
    "nanogpt-termux-nan.log": (91, 0, 450, 1.4449),
    "nanogpt-two-regimes.txt": (1999, 10, 20000, 0.6396),
    "build-nanogpt-arabic.txt": (2318, 0, 2317, 4.1969),
    "step-timing-log.txt": (521, 3473, 3991, 5.3969),
    "dino-metriclogger.out": (1772, 0, 17512, 0.5025),
    "verl-ppo-steps.log": (157, 101, 257, 10.892),
    "megatron-bigscience-n4.out": (20, 10, 200, 1.3806),
    "gpt-neox-moe-restarts.txt": (13, 10, 80, 1.3052),
    "yolox-train_log.txt": (240, 10, 2238, 0.088),
    "mmdet-mmcv.log.json": (1026, 10, 1660, 0.6481),
}
REAL_CLOCKS = {
    "torchtitan-ckpt-next-interval.log": (265, 2510, 5150, 19.6585),
    "deepspeed-chat-sft.log": (701, 10, 7010, 7.466),
    "modded-nanogpt-muon.txt": (4216, 1, 4216, 0.214),
    "llamafactory-steady.jsonl": (436, 5, 2178, 1968.0),
}


def read_real(path: Path) -> Run:
    source = Source(str(path))
    found = guess(source.lines())
    assert found is not None
    log = Recording(found.reader.dialect)
    reader = found.reader(log)
    for number, line in source.lines():
        reader.feed(number, line)
    reader.finish()
    return log.finish()


@pytest.mark.parametrize("name", REAL)
def test_real_logs_are_read_as_if_their_trainers_were_unknown(cases: Path, name: str) -> None:
    run = read_real(cases / name)
    num_records, first, last, seconds = REAL[name]
    assert (len(run), min(run.step), max(run.step)) == (num_records, first, last)
    assert sorted(run.seconds)[len(run) // 2] == pytest.approx(seconds, rel=0.01)


@pytest.mark.parametrize("name", REAL_CLOCKS)
def test_real_logs_with_nothing_but_a_clock_are_read_too(cases: Path, name: str) -> None:
    run = read_real(cases / name)
    num_records, first, last, seconds = REAL_CLOCKS[name]
    assert (len(run), min(run.step), max(run.step)) == (num_records, first, last)
    gaps = sorted(after - before for before, after in pairwise(run.wall))
    assert gaps[len(gaps) // 2] == pytest.approx(seconds, rel=0.01)


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
