"""One update of a progress bar as tqdm draws it, and what such a bar is about.

    train:  12%|#2        | 12/100 [00:09<01:06,  1.33it/s, loss=2.1]
    123it [00:10, 12.30it/s]

The clock in the brackets is the truth; the rate is a moving average and is not read: after one
step of 28 s it says 28.5, 12.2, 6.9, 4.5 s for steps that took 0.7 s.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

from instride.steps.clocks import count, elapsed_s

BRACKETS = re.compile(r" \[((?:\d{1,4} days?, )?\d{1,5}:\d\d(?::\d\d)?)(?:<|, )")
PLAIN = re.compile(
    r"\r(([^%|\[\r\n]{0,200})%\|[^%|\[\r\n]{0,300}\| ([0-9]{1,9})/([0-9]{1,9})"
    r" \[((?:[0-9]{1,4}:)?[0-9][0-9]:[0-9][0-9])<[^\r\n]{0,26})(?=[\r\n])"
)
"""A drawing with nothing behind its brackets; groups: all of it, label, n, total, clock."""
RATE = re.compile(
    r", {0,8}(?:\d[\d.]{0,15}|\?)[kMGTPEZY]?(?:s/([^\s,\]]{1,24})| ?([^\s,\]/]{1,24})/s)"
)
OPEN_COUNT = re.compile(r"(?:^|[\s|:])(\d[\d.]{0,15}[kMG]?) ?[^\W\d]{1,24}$")
LONGEST_NUMBER = 15
LARGEST_COUNT = (1 << 32) - 1
"""No training has more steps; counts are kept in four bytes."""
WIDEST_RATE = 64
"""Characters from the clock in which the rate begins and ends."""

LONGEST_HEAD = 2000
"""Characters before the brackets: a description and a bar as wide as a terminal."""
LONGEST_BRACKETS = 40
"""Characters of ` [1:18:25<19:24:42,  3.07s/it]`; where more follow, a marker may be among them."""

MOST_CLOCKS = 4096
"""Texts of clocks to remember: drawings in a row mostly show the same."""
TWO_DIGITS = [f"{number:02}" for number in range(100)]

FOREIGN_UNIT = re.compile(r"[kMGT]?(?:i?B|bytes?|files?|examples?|shards?)", re.IGNORECASE)
PREPARING = re.compile(
    r"(?<![a-z])(?:map(?:ping)?(?![a-z])|filter|tokeni[sz]|pack|download|fetch|(?:pre)?load(?:ing)?(?![a-z])"
    r"|extract|convert|generating .{0,20}split|running tokenizer|grouping|skipping|resolving"
    r"|preprocess|prepar|caching|scanning|capturing|flattening)",
    re.IGNORECASE,
)
SAVING = re.compile(r"(?<![a-z])(?:sav(?:e|ing)|checkpoint|upload)", re.IGNORECASE)
EVALUATING = re.compile(
    r"(?<![a-z])(?:eval|sanity|valid|val(?![a-z])|test|infer|predict|sampl|generat|decod|dev(?![a-z]))"
    # `val_loss 2.1` is a number that a bar of the training shows.
    r"(?![a-z]{0,8}[ _/-]?(?:loss|acc|ppl|perpl|score))",
    re.IGNORECASE,
)
TRAINING = re.compile(r"train|loss|epoch|step|iter", re.IGNORECASE)


class Role(Enum):
    """What a bar counts, by its description and unit."""

    TRAINING = "training"
    OTHER = "other"
    EVALUATION = "evaluation"
    SAVING = "saving"
    PREPARATION = "preparation"


class Update(NamedTuple):
    description: str
    n: int
    total: int | None
    elapsed_s: int
    unit: str

    @property
    def role(self) -> Role:
        if FOREIGN_UNIT.fullmatch(self.unit) or PREPARING.search(self.description):
            return Role.PREPARATION
        if SAVING.search(self.description):
            return Role.SAVING
        if EVALUATING.search(self.description):
            return Role.EVALUATION
        return Role.TRAINING if TRAINING.search(self.description) else Role.OTHER


def parse(line: str) -> Update | None:
    """The bar in a line, if it has one."""
    parts = cut(line)
    if parts is None:
        return None
    start, label, n_text, total_text, elapsed_text = parts
    n, total, elapsed = whole(n_text), whole(total_text), seconds(elapsed_text)
    bounds = start + len(elapsed_text) + 2
    rate = RATE.search(line, bounds, bounds + WIDEST_RATE)
    if n is None or (total is not None and n > total):
        return None
    if rate is None and (total is None or line[bounds] != "<"):
        return None
    description = label.rstrip("0123456789").rstrip("| ").removesuffix(":")
    unit = (rate[1] or rate[2]) if rate else "it"
    return Update(description.strip(), n, total, elapsed, unit)


def cut(line: str) -> tuple[int, str, str, str, str] | None:
    """Where the brackets open, and the texts of label (with its percents), n, total and clock.

    This runs on every line of the log; only a text that was not seen before is checked further.
    """
    if " [" not in line:
        return None
    found = BRACKETS.search(line)
    if found is None or found.start() > LONGEST_HEAD:
        return None
    start = found.start()
    space = line.rfind(" ", 0, start)
    number = line[space + 1 : start]
    if "|" in number:
        number = number[number.rfind("|") + 1 :]
    n_text, slash, total_text = number.partition("/")
    if slash:
        percent = line.rfind("%", 0, start)
        label = line[:percent] if percent >= 0 else line[: start - len(number)]
        return start, label, n_text, total_text, found[1]
    open_count = OPEN_COUNT.search(line, max(0, start - 48), start)
    if open_count is None:
        return None
    return start, line[: open_count.start(1)], open_count[1], "", found[1]


def whole(text: str) -> int | None:
    """A count: `1700`, `3.01k`; None for `?`, nothing, or what is no count."""
    if not text[:1].isdecimal() or len(text) > LONGEST_NUMBER:
        return None
    try:
        number = int(text) if text.isdecimal() else round(count(text))
    except (ValueError, OverflowError):
        return None
    return number if number <= LARGEST_COUNT else None


def seconds(text: str) -> int:
    """The clock of a bar, as `cut` found it."""
    if "d" in text:
        return int(elapsed_s(text) or 0)
    parts = text.split(":")
    below_hours = int(parts[-2]) * 60 + int(parts[-1])
    return below_hours if len(parts) == 2 else below_hours + 3600 * int(parts[0])


class Clocks(dict[str, int]):
    """Seconds by the text of a clock, a minute of them at once."""

    def __missing__(self, text: str) -> int:
        if len(self) >= MOST_CLOCKS:
            self.clear()
        minute = text[:-2]
        begin_s = seconds(minute + "00")
        texts = map(minute.__add__, TWO_DIGITS)
        self.update(zip(texts, range(begin_s, begin_s + len(TWO_DIGITS)), strict=True))
        # Digits of another script are not among them.
        return self.setdefault(text, seconds(text))
