"""Broken and strange lines, and real logs read as if nobody knew their trainers."""

from __future__ import annotations

from itertools import pairwise
from math import isnan
from pathlib import Path
from time import perf_counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instride.steps.model import Run
from instride.steps.readers.contract import LONGEST_LINE
from instride.steps.readers.guess import SAMPLE_LINES, guess
from instride.steps.recording import Recording
from instride.steps.source import Source
from tests.unit.readers.guessing import read, record, records


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
