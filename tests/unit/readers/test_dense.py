"""Readers that take records a stretch at a time find what they find line by line."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instride.steps.model import Run
from instride.steps.readers.bar_families import Bar
from instride.steps.readers.bar_reader import BarReader
from instride.steps.readers.contract import LONGEST_LINE
from instride.steps.readers.dense import DenseReader
from instride.steps.readers.hf_trainer import HFTrainer
from instride.steps.readers.nanogpt import NanoGPT
from instride.steps.readers.torchtune import Torchtune
from instride.steps.readers.tqdm import Tqdm
from instride.steps.reading import read_with
from instride.steps.recording import Recording
from instride.steps.source import Source, pieces
from tests.unit.readers.drawing import draw

OTHER_LINES = (
    "",
    "  warnings.warn(",
    "step 500: train loss 2.9, val loss 3.0",
    "saving checkpoint to out",
    "Saving model checkpoint to out/checkpoint-500",
    "***** Running Evaluation *****",
    "***** Running training *****",
    "{'loss': 1.5, 'learning_rate': 2e-05, 'epoch': 0.5}",
    "{'eval_loss': 1.2, 'eval_runtime': 6.0, 'epoch': 0.07}",
    "tokens per iteration will be: 491,520",
    "Traceback (most recent call last):",
    "validation loss 3.1",
    "x" * (LONGEST_LINE + 1),
)


Said = dict[str, object]


def line_by_line(reader_type: type[DenseReader], text: str) -> Said:
    log = Recording(reader_type.dialect)
    reader = reader_type(log)
    for number, line in pieces(1, text):
        if len(line) <= LONGEST_LINE:
            reader.feed(number, line)
    return all_that(reader) | finished(reader)


def in_blocks(reader_type: type[DenseReader], text: str, cuts: list[int]) -> Said:
    """Blocks end behind line feeds and carriage returns, as a source cuts them."""
    ends = [found.end() for found in re.finditer(r"[\r\n](?!\n)", text)]
    borders = sorted({0, *(ends[cut % len(ends)] for cut in cuts if ends), len(text)})
    log = Recording(reader_type.dialect)
    reader = reader_type(log)
    for begin, end in pairwise(borders):
        reader.feed_block(1 + text.count("\n", 0, begin), text[begin:end])
    return all_that(reader) | finished(reader)


def all_that(reader: DenseReader) -> Said:
    """What a reader of bars has seen, down to what is only needed for drawings to come."""
    if not isinstance(reader, BarReader):
        return {}
    bars = reader.bars
    return {
        "stamps": [str(stamp) for stamp in bars.stamps],
        "stretches": [(bar.number, *places) for bar, *places in bars.stretches()],
        "marks": list(zip(bars.marked_at, bars.marks, strict=True)),
        "last": bars.last and bars.last.description,
        "families": [
            (name, each.num_drawn, list(each.counts), list(each.clocks), list(each.lines))
            for name, each in bars.families.items()
        ],
        "bars": [
            {name: getattr(bar, name) for name in Bar.__slots__ if name != "family"}
            for bar in bars.bars
        ],
    }


def finished(reader: DenseReader) -> Said:
    reader.finish()
    return told(reader.log.finish())


def told(run: Run) -> Said:
    """All that a run says; NaN as text, for it is not equal to itself."""
    columns = ("step", "line", "seconds", "wall", "data")
    rest = {name: value for name, value in vars(run).items() if name not in columns}
    return rest | {name: [str(each) for each in getattr(run, name)] for name in columns}


@st.composite
def iterations(draw_from: st.DrawFn) -> str:
    """nanoGPT records in order, with restarts, ranks, odd records and other lines between them."""
    dice = Random(draw_from(st.integers(0, 1 << 30)))
    oddness = draw_from(st.sampled_from([0.0, 0.05, 0.5]))
    step, lines = dice.choice((0, 7, 999_999)), []
    for _ in range(draw_from(st.integers(0, 120))):
        step = max(0, step + (1 if dice.random() >= oddness else dice.choice((-40, 0, 10))))
        time = f"{400 + dice.random():.2f}ms"
        if dice.random() < oddness:
            time = dice.choice(("nanms", "1.2s", "5 ms", "12ms", "1e3ms", "0.001msx", "7.1.2ms"))
        line = f"iter {step}: loss {dice.random():.4f}, time {time}, mfu 38.21%"
        if dice.random() < oddness:
            stamp = "2025-03-01 10:00:00,250 "
            line = dice.choice((stamp + line, "[rank1]: " + line, line[:20], line + line))
        lines.append(line)
        if dice.random() < oddness:
            lines.append(dice.choice(OTHER_LINES))
    return dice.choice(("\n", "\r\n")).join(lines) + dice.choice(("", "\n"))


@st.composite
def drawings(draw_from: st.DrawFn) -> str:
    """Bars that overwrite themselves: epochs, restarts, ranks, redrawings, mangled ones."""
    dice = Random(draw_from(st.integers(0, 1 << 30)))
    oddness = draw_from(st.sampled_from([0.0, 0.03, 0.3]))
    total, name = dice.choice((60, 5000)), dice.choice(("", "train", "1|12|Loss: 1.0", "Epoch 3"))
    prefix = dice.choice(("", "", "2025-03-01 10:00:00,250 "))
    n, elapsed_s, parts = 0, 0.0, []
    for _ in range(draw_from(st.integers(0, 150))):
        parts.append(f"\r{prefix}" + draw(n, total, elapsed_s, name, more=_more(dice, oddness)))
        if dice.random() < oddness:
            parts.append(_other(dice, n, total, elapsed_s))
        n, elapsed_s = n + 1, elapsed_s + 0.7
        if n > total or dice.random() < oddness / 4:
            n, elapsed_s = 0, 0.0
        elif dice.random() < oddness:
            n, elapsed_s = max(0, n + dice.choice((-1, 0, 30))), elapsed_s + dice.choice((-9, 0, 9))
            elapsed_s = max(0.0, elapsed_s)
    return "".join(parts) + dice.choice(("", "\n", "\r"))


def _more(dice: Random, oddness: float) -> str:
    return dice.choice(("", "loss=2.1", "v_num=3, loss=0.91")) if dice.random() < oddness else ""


def _other(dice: Random, n: int, total: int, elapsed_s: float) -> str:
    """What stands between two drawings."""
    return dice.choice(
        (
            f"\n{dice.choice(OTHER_LINES)}\n",
            "\n",
            "\r",
            "\r" + draw(n, total, elapsed_s),
            "\r" + draw(n, 10 * total, elapsed_s, "Evaluating"),
            "".join("\r" + draw(done, 4, done) for done in range(5)),
            "\r2025-03-01 10:00:00,250 " + draw(n, total, elapsed_s),
            "\r" + draw(n, total, elapsed_s)[: dice.randint(0, 50)],
            "\r" + draw(min(total, n + 7), total, elapsed_s).replace(":", ":7", 1),
        )
    )


@settings(max_examples=100, deadline=None)
@given(text=iterations(), cuts=st.lists(st.integers(0, 500), max_size=3))
def test_stretches_of_iterations_are_read_as_their_lines_are(text: str, cuts: list[int]) -> None:
    text = text.replace("\r\n", "\n")
    assert in_blocks(NanoGPT, text, cuts) == line_by_line(NanoGPT, text)


@pytest.mark.parametrize("reader_type", [HFTrainer, Torchtune, Tqdm])
@settings(max_examples=100, deadline=None)
@given(text=drawings(), cuts=st.lists(st.integers(0, 500), max_size=3))
def test_stretches_of_drawings_are_read_as_the_drawings_are(
    reader_type: type[DenseReader], text: str, cuts: list[int]
) -> None:
    assert in_blocks(reader_type, text, cuts) == line_by_line(reader_type, text)


@pytest.mark.parametrize(
    ("reader_type", "lines"),
    [
        (NanoGPT, [f"\niter {n}: loss 2.5, time 401.25ms, mfu 1%" for n in range(300)]),
        (HFTrainer, ["\r" + draw(n, 1000, n) for n in range(300)]),
        (Tqdm, ["\r" + draw(n, 1000, n, f"train {n}") for n in range(300)]),
    ],
)
def test_plain_records_are_not_fed_one_by_one(
    reader_type: type[DenseReader], lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fed: list[str] = []
    feed = reader_type.feed

    def feed_and_tell(self: DenseReader, number: int, line: str) -> None:
        fed.append(line)
        feed(self, number, line)

    monkeypatch.setattr(reader_type, "feed", feed_and_tell)
    half = len(lines) // 2
    texts = ["".join(lines[:16]) + "\r", "".join(lines[16:half]), "".join(lines[half:]) + "\n"]
    log = Recording(reader_type.dialect)
    reader = reader_type(log)
    for text in texts if reader_type.opens == "\r" else ["".join(lines) + "\n"]:
        reader.feed_block(1, text)
    reader.finish()
    assert len(fed) <= 20
    assert len(log.finish()) >= 299


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_long_log_is_read_in_stretches_to_the_same_run(tmp_path: Path, end: str) -> None:
    lines = [f"iter {step}: loss 2.5, time {400 + step % 7}.25ms, mfu 1%" for step in range(9000)]
    lines[5000:5000] = ["saving checkpoint to out", "", "iter 5: loss"]
    log = tmp_path / "train.log"
    log.write_bytes(end.join(lines).encode())
    run = read_with(NanoGPT, [Source(str(log))])
    expected = line_by_line(NanoGPT, "\n".join(lines))
    assert told(run) == expected | {"line_offsets": [0]}
    assert len(run) == 9000
