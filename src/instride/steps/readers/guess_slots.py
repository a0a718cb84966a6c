"""Lines as slots: every number of a line with the words before it and the unit after it."""

from __future__ import annotations

import re
from math import isfinite
from typing import NamedTuple

from instride.steps.readers.guess_words import (
    COUNTING,
    EPOCH,
    EVALUATION,
    FILE_ENDS,
    LABEL_UNITS,
    NO_NUMBER,
    PER_STEP,
    RATE,
    STEP,
    TIME_UNITS,
    is_any,
    subwords,
)
from instride.steps.stamps import span_s

NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:[eE][-+]?\d+)?|(?<![\d.])\.\d+"
CLOCK = r"(?:\d{1,5} days?, )?\d{1,6}:\d\d(?::\d\d)?(?:\.\d+)?(?![\d:])"
COMPOUND = (
    r"\d{1,6} ?h(?:ours?|r)?,? ?\d\d? ?m(?:in)?(?:,? ?\d\d?(?:\.\d+)? ?s(?:ec)?)?(?![\w/])"
    r"|\d{1,6} ?m(?:in)?,? ?\d\d?(?:\.\d+)? ?s(?:ec)?(?![\w/])"
)
TOKEN = re.compile(
    r"(?P<version>\d+(?:\.\d+){2,})"
    rf"|(?P<clock>{CLOCK})|(?P<compound>{COMPOUND})|(?P<sign>(?<![\w.)\]])-)?(?P<number>{NUMBER})"
    r"|(?P<word>[^\W\d]+)"
)
TOTAL = r"\s{0,12}(?:/|of|out of)\s{0,12}(\d{1,3}(?:,\d{3}){1,4}|\d{1,12})(?!,?\d)"
OF_TOTAL = re.compile(TOTAL + r"(?![\w.]*\w)", re.ASCII)
ASCII_UNIT = re.compile(r"(\s?)([A-Za-z%]+(?:/[A-Za-z]+)?|/[A-Za-z]+)")
NUMBER_NEXT = re.compile(r"[\W_]{0,8}\d")
OTHER_UNIT = re.compile(r"\s?([^\W\d_a-zA-Z]+)")
WORDS_KEPT = 4
LABEL_ENDS = re.compile(r"[|;=]|,\s")
"""What is beyond these belongs to the number before, or to nothing."""


class Slot(NamedTuple):
    """One number of a line."""

    words: tuple[str, ...]
    """The words before it, back to the number before it; the nearest is the last."""
    begin: int
    end: int
    """Where its text ends, without its total and its unit."""
    kind: str
    """`number`, `clock` (1:02:03), `compound` (1h 2m) or `odd` (nan)."""
    text: str
    unit: str
    total: int | None

    @property
    def label(self) -> str:
        return self.words[-1] if self.words else ""

    @property
    def value(self) -> float | None:
        return None if self.kind == "odd" else span_s(self.text)


class Parts(NamedTuple):
    slots: list[Slot]
    words: frozenset[str]


def parts(line: str) -> Parts:
    """Take a line apart. Numbers in names (`resnet50`, `rank0`) are no slots."""
    scan = _Scan(line)
    for token in TOKEN.finditer(line):
        scan.take(token)
    return Parts(scan.slots, frozenset(scan.seen))


class _Scan:
    def __init__(self, line: str) -> None:
        self.line = line
        self.slots: list[Slot] = []
        self.seen: list[str] = []
        self.words: list[str] = []
        self.done = 0
        """Tokens before this position are part of a slot already."""
        self.word_end = -1

    def take(self, token: re.Match[str]) -> None:
        if token.start() < self.done:
            return
        kind = token.lastgroup
        if kind == "word":
            self._word(token)
        elif kind == "version":
            self.words.clear()
        elif kind == "number" and token.start() == self.word_end and self._is_name():
            self.words[-1] += token[0]
            self.word_end = token.end()
        else:
            self._slot(token, kind or "number", token[0])

    def _is_name(self) -> bool:
        """Whether digits right after a word belong to it: not in `step100` and after CJK words."""
        stem = (self.words[-1] if self.words else "").rstrip("_")
        return stem.isascii() and stem.lower() not in STEP | EPOCH

    def _word(self, token: re.Match[str]) -> None:
        word = token[0]
        if word.lower() in NO_NUMBER and self.words:
            self._slot(token, "odd", word)
            return
        if token.start() == self.word_end and self.words:
            self.words[-1] += word
        else:
            if LABEL_ENDS.search(self.line, max(0, self.word_end), token.start()):
                self.words.clear()
            self.words.append(word)
            self.seen.append(word)
        self.word_end = token.end()

    def _slot(self, token: re.Match[str], kind: str, text: str) -> None:
        end = token.end()
        total = None
        if kind == "number" and is_digits(text) and (of := OF_TOTAL.match(self.line, end)):
            total = int(of[1].replace(",", ""))
            self.done = of.end()
        unit, after = ("", end) if total is not None else _unit(self.line, end, is_digits(text))
        self.done = max(self.done, after)
        words = tuple(self.words[-WORDS_KEPT:])
        is_code = words[-1:] and words[-1] in FILE_ENDS and self.line[token.start() - 1] == ":"
        self.words.clear()
        self.word_end = -1
        if unit != "?" and not is_code:
            self.slots.append(Slot(words, token.start(), end, kind, text, unit, total))


def _unit(line: str, end: int, is_count: bool) -> tuple[str, int]:
    """The unit after a number and where it ends; `?` where the number is part of a name."""
    if found := ASCII_UNIT.match(line, end):
        unit = found[2].lower()
        is_known = unit in TIME_UNITS or PER_STEP.fullmatch(unit) or RATE.fullmatch(unit)
        if found[1] and (not is_known or unit in ("m", "h")):
            names_next = NUMBER_NEXT.match(line, found.end()) is not None
            is_step = is_count and unit in STEP and len(unit) > 2 and not names_next
            return (unit, found.end()) if is_step else ("", end)
        after = line[found.end() : found.end() + 1]
        if after.isalnum() or after == "_":
            return "?", end
        return unit, found.end()
    if found := OTHER_UNIT.match(line, end):
        names = [n for n in (*TIME_UNITS, *STEP, *EPOCH) if found[1].startswith(n)]
        if names:
            longest = max(names, key=len)
            return longest, found.start(1) + len(longest)
    if line[end : end + 1] == "_":
        return "?", end
    return "", end


def scale_of(words: tuple[str, ...], unit: str) -> float | None:
    """Seconds in one of a slot's unit, by the unit itself or by its name (`iter_time_ms`)."""
    if per := PER_STEP.fullmatch(unit):
        return TIME_UNITS[per[1]]
    if unit in TIME_UNITS:
        return TIME_UNITS[unit]
    for word in reversed(words):
        if word in LABEL_UNITS:
            return LABEL_UNITS[word]
    return None if unit else 1.0


def is_whole(slot: Slot) -> bool:
    return slot.kind == "number" and len(slot.text) < 20 and is_digits(slot.text)


def is_digits(text: str) -> bool:
    return text.replace(",", "").isdecimal()


def finite(slot: Slot | None) -> float:
    value = slot.value if slot is not None else None
    return value if value is not None and isfinite(value) else float("nan")


def is_step_word(slot: Slot) -> bool:
    words = [part for word in slot.words[-2:] for part in subwords(word)]
    if any(word in EVALUATION for word in words):
        return False
    while len(words) > 1 and words[-1] in COUNTING:
        words.pop()
    return is_any(words[-1] if words else "", STEP) or slot.unit in STEP


def is_epoch_word(slot: Slot) -> bool:
    last = (subwords(slot.label) or ("",))[-1]
    return is_any(last, EPOCH) or slot.unit in EPOCH
