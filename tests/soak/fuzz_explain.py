"""Feeds `instride explain` logs that nobody would write, and looks for one that it cannot take.

    python tests/soak/fuzz_explain.py --inputs 1000000

Each input has a number, which makes it again: `--first 4711 --inputs 1`. A good answer is a
documented exit code, no traceback, JSON that is JSON, within a few seconds. The first input that
gets no good answer is saved, with its options, and ends the search.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import os
import random
import re
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from multiprocessing import Pool
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

from rich.cells import cell_len

from instride import errors
from instride.cli.main import main as instride
from instride.steps.readers import READERS

ANSWERED = (0, 1)
COLUMNS = 80
LONGEST_S = 20
CODES = {0, 1} | {
    each.exit_code
    for each in vars(errors).values()
    if isinstance(each, type) and issubclass(each, errors.InstrideError)
}
"""Everything the command may end with."""
SAMPLES = [reader.dialect.sample for reader in READERS]
NAMES = [reader.dialect.name for reader in READERS]
NUMBER = re.compile(r"\d+(?:\.\d+)?")
MILLIONS = re.compile(r"\d,\d{3}(?:,\d{3}| d)")
"""Steps, or thousands of days: no training has them, and a screen need not have room for them."""
ODD_NUMBERS = (
    *("0", "00", "0.0", "-0", "-1", "+5", "1,000", "1.2.3", "0x10", "\u0664\u0662", ""),
    *("nan", "inf", "-inf", "1e400", "1e-400", "9" * 22, "9" * 400),
    *(str(2**power + more) for power in (31, 32, 63, 64) for more in (-1, 0)),
)
NOISE = (
    "Traceback (most recent call last):",
    "saving checkpoint to out",
    "Saving model checkpoint to out/checkpoint-500",
    "step 100: train loss 3.2110, val loss 3.3005",
    "validation loss: 3.25",
    "compiling the model... (takes a ~minute)",
    "Resuming training from out",
    "***** Running training *****",
    "Training completed.",
    "loss 2.5",
    "2026-05-17 12:54:40,566 INFO something happened",
    "[rank3]: W0517 12:54:40.566 warning",
    "{'loss': 1.2, 'epoch': 0.1}",
    '{"step": 5, "loss": 1.0, "time": 0.5}',
    "step,loss,time",
    " 10%|#    | 10/100 [00:10<01:30,  1.00s/it]\r",
    "\u9a8c\u8bc1 loss \u4fdd\u5b58\u6a21\u578b",
    "",
    "\t \x0b\x0c\x85\u2028",
)


class Case(NamedTuple):
    """The files of one input, and the options that they are read with."""

    files: dict[str, bytes]
    args: list[str]


def make_case(dice: random.Random) -> Case:
    """An input; the same for the same state of the dice."""
    if dice.random() < 0.1:
        return Case({"a.log": dice.randbytes(dice.randrange(400))}, ["a.log"])
    names = dice.choice([["a.log"]] * 6 + [["a.log", "b.log"], ["rank0.log", "rank1.log"]])
    files = {name: _damage(dice, _make_text(dice)) for name in names}
    args = dice.choice([names, names, names, ["."]])
    options = dice.choice([[], [], ["--json"], ["--json"], ["--dialect", dice.choice(NAMES)]])
    return Case(files, [*args, *options])


def _make_text(dice: random.Random) -> str:
    lines: list[str] = []
    for _ in range(dice.choice([1, 1, 1, 2, 3])):
        lines += _make_process(dice)
    if dice.random() < 0.1:
        dice.shuffle(lines)
    return dice.choice(["\n"] * 8 + ["\r\n", "\r"]).join(lines) + dice.choice(["\n", "", "\r"])


def _make_process(dice: random.Random) -> Iterator[str]:
    """Lines of a trainer, with steps that mostly rise, and what stands between them."""
    sample = dice.choice(SAMPLES)
    numbers = len(NUMBER.findall(sample))
    which = dice.randrange(max(1, numbers))
    step, stride = dice.choice([0, 1, 10, 4000]), dice.choice([1, 1, 1, 10, 50])
    varied = [dice.random() < 0.3 for _ in range(numbers)]
    oddness = dice.choice([0.0, 0.0, 0.01, 0.3])
    for _ in range(dice.choice([1, 2, 3, 5, 20, 20, 80])):
        if dice.random() < 0.15:
            yield dice.choice(NOISE)
        if dice.random() < 0.02:
            step -= dice.randrange(0, 5 * stride)
        parts = NUMBER.split(sample)
        values = NUMBER.findall(sample)
        for index, value in enumerate(values):
            if index == which:
                values[index] = str(step)
            elif varied[index]:
                values[index] = _near(dice, value)
            if dice.random() < oddness:
                values[index] = dice.choice(ODD_NUMBERS)
        line = "".join(text for pair in zip(parts, [*values, ""], strict=True) for text in pair)
        yield from [line] * dice.choice([1] * 12 + [2, 4])
        step += stride


def _near(dice: random.Random, text: str) -> str:
    factor = dice.choice([1.0, 1.0, 1.01, 0.99, 1.3, 10.0])
    if "." not in text:
        # The digits of a time of day must stay as many as they are.
        return str(int(int(text) * factor))[-len(text) :].zfill(len(text))
    return f"{float(text) * factor:.{len(text) - text.index('.') - 1}f}"


def _damage(dice: random.Random, text: str) -> bytes:
    if dice.random() < 0.3:
        text = dice.choice(DAMAGES)(dice, text)
    content = text.encode(dice.choice(["utf-8"] * 12 + ["utf-16", "utf-16-be"]), "replace")
    if dice.random() < 0.05:
        content = gzip.compress(content, mtime=0)
    if dice.random() < 0.05:
        content = content[: dice.randrange(len(content) + 1)]
    if dice.random() < 0.05 and content:
        where = dice.randrange(len(content))
        content = content[:where] + dice.randbytes(dice.randrange(9)) + content[where:]
    return content


def _cut(dice: random.Random, text: str) -> str:
    begin, end = sorted(dice.randrange(len(text) + 1) for _ in range(2))
    return text[:begin] + text[end:]


def _swap(dice: random.Random, text: str) -> str:
    old, new = (dice.choice("0123456789.:,|/ \n\r[]{}%=ems") for _ in range(2))
    return text.replace(old, new, dice.choice([1, 5, -1]))


def _insert(dice: random.Random, text: str) -> str:
    where = dice.randrange(len(text) + 1)
    odd = ["\x1b[31m", "\x1b]", "\0", "\r", "\ufeff", "\u202e", "9" * 5000, "[" * 3000, "x" * 70000]
    return text[:where] + dice.choice(odd) + text[where:]


def _repeat(dice: random.Random, text: str) -> str:
    begin, end = sorted(dice.randrange(len(text) + 1) for _ in range(2))
    return text[:end] + text[begin:end] * dice.randrange(1, 4) + text[end:]


DAMAGES: list[Callable[[random.Random, str], str]] = [_cut, _swap, _insert, _repeat]


class Outcome(NamedTuple):
    number: int
    code: int | None
    took_s: float
    problem: str
    """Empty if the answer was good."""


class TooSlow(BaseException):
    """Not an Exception, so that nothing on the way swallows it."""


def try_case(case: Case) -> tuple[int | None, str]:
    """The exit code, and what is wrong with the answer."""
    out, err = io.StringIO(), io.StringIO()
    with tempfile.TemporaryDirectory(prefix="instride-fuzz-") as directory, chdir(directory):
        for name, content in case.files.items():
            Path(name).write_bytes(content)
        try:
            width = patch.dict(os.environ, COLUMNS=str(COLUMNS))
            with redirect_stdout(out), redirect_stderr(err), width, _alarm():
                code = instride(["explain", *case.args])
        except (Exception, TooSlow):
            return None, traceback.format_exc()
    return code, _judge(case, code, out.getvalue(), err.getvalue())


def _judge(case: Case, code: int, out: str, err: str) -> str:
    if code not in CODES:
        return f"exit code {code}"
    if "Traceback" in err:
        return err
    if code not in ANSWERED:
        has_sentence = err.startswith("error: ") and "\n\nhint: " in err and not out
        return "" if has_sentence else f"no sentence and hint: {out!r} {err!r}"
    if "--json" not in case.args:
        too_wide = [line for line in out.splitlines() if cell_len(line) > COLUMNS]
        too_wide = [line for line in too_wide if not MILLIONS.search(line)]
        return "\n".join(["too wide:", *too_wide]) if too_wide or not out else ""
    try:
        answer = json.loads(out, parse_constant=_refuse)
    except ValueError as error:
        return f"no JSON: {error}"
    shares = [owner["share"] for owner in answer["owners"].values()]
    is_whole = abs(sum(shares) - 1) < 1e-6 and min(shares) >= -1e-9
    return "" if is_whole else f"shares {shares}"


def _refuse(name: str) -> None:
    raise ValueError(name)


@contextmanager
def _alarm() -> Iterator[None]:
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def ring(*_: object) -> None:
        raise TooSlow(f"no answer within {LONGEST_S} s")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(LONGEST_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def try_number(number: int) -> Outcome:
    case = make_case(random.Random(number))
    begun = time.monotonic()
    code, problem = try_case(case)
    return Outcome(number, code, time.monotonic() - begun, problem)


def save(outcome: Outcome, directory: Path) -> None:
    """Write down a case that got no good answer."""
    case = make_case(random.Random(outcome.number))
    directory = directory / str(outcome.number)
    directory.mkdir(parents=True, exist_ok=True)
    for name, content in case.files.items():
        (directory / name).write_bytes(content)
    command = f"instride explain {' '.join(case.args)}"
    (directory / "problem.txt").write_text(f"{outcome.number}\n{command}\n\n{outcome.problem}\n")
    print(f"\ninput {outcome.number} has no good answer; it is in {directory}: {command}")
    print(outcome.problem)


def search(first: int, inputs: int, jobs: int, directory: Path) -> int:
    codes: Counter[int | None] = Counter()
    begun, slowest = time.monotonic(), Outcome(first, None, 0.0, "")
    with Pool(jobs) as pool:
        numbers = range(first, first + inputs)
        for outcome in pool.imap_unordered(try_number, numbers, chunksize=50):
            codes[outcome.code] += 1
            slowest = max(slowest, outcome, key=lambda each: each.took_s)
            if outcome.problem:
                save(outcome, directory)
                return 1
            if codes.total() % 20_000 == 0:
                print(f"{codes.total():,} inputs, all good", flush=True)
    took_s = time.monotonic() - begun
    print(f"{codes.total():,} inputs in {took_s:.0f} s, all with a good answer")
    print("exit codes:", ", ".join(f"{code}: {count:,}" for code, count in codes.most_common()))
    print(f"the slowest, {slowest.number}, took {slowest.took_s:.2f} s")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--save", type=Path, default=Path("fuzz-failure"), metavar="DIRECTORY")
    chosen = parser.parse_args()
    sys.exit(search(chosen.first, chosen.inputs, chosen.jobs, chosen.save))
