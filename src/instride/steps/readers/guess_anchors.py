"""Patterns for the slots of a learnt dialect, each proven on the lines it was learnt from."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec

from instride.steps.readers.guess_lines import Key, Line
from instride.steps.readers.guess_slots import CLOCK, COMPOUND, NUMBER, TOTAL, Slot

GAP = r"\W{0,12}?"
ODD = r"(?i:nan|inf|none|null|n/a)"
MOST_PROOFS = 200
PROVEN = 0.95
"""Share of the lines on which a pattern must find the slot where it is."""


class Field(msgspec.Struct):
    """Where one number of a record stands: group 1 is its text, group 2 the total if it has one."""

    pattern: re.Pattern[str]
    name: str
    """The word before it."""
    unit: str
    literal: str
    """A text that stands on every line with it, if there is one."""


def anchor(key: Key, lines: Sequence[Line], is_count: bool = False) -> Field | None:
    """The simplest pattern that finds a slot; None if none does on nearly all lines."""
    holders = [line for line in lines if key in line.slots]
    holders = holders[:: max(1, len(holders) // MOST_PROOFS)]
    slots = [line.slots[key] for line in holders]
    first = next((slot for slot in slots if slot.kind != "odd"), slots[0])
    value = _value(first, is_count)
    signs = {
        _signs_before(line.text, slot.begin) for line, slot in zip(holders, slots, strict=True)
    }
    befores = list(_befores(key, first, slots))
    if len(signs) == 1 and not first.words:
        befores.insert(0, (max(signs), re.escape(max(signs))))
    for literal, before in befores:
        pattern = re.compile(before + value)
        hits = sum(
            (found := pattern.search(line.text)) is not None and found.start(1) in (-1, slot.begin)
            for line, slot in zip(holders, slots, strict=True)
        )
        if hits >= PROVEN * len(holders):
            return Field(pattern, first.label, first.unit, literal)
    return None


def _value(slot: Slot, is_count: bool) -> str:
    """A number of the slot's kind with what follows it; a `nan` leaves the group empty."""
    if is_count:
        text = r"(\d{1,3}(?:,\d{3}){1,5}(?!\d)|\d{1,18})"
        return text + (TOTAL if slot.total is not None else _unit(slot.unit) or r"(?!\.?\w)")
    if slot.kind == "clock":
        return f"({CLOCK})"
    if slot.kind == "compound":
        return f"({COMPOUND})"
    number = r"(-?[\d.,]{0,24}\d(?:[eE][-+]?\d{1,3})?)"
    after = TOTAL if slot.total is not None else _unit(slot.unit)
    return rf"(?:{number}{after}|{ODD}{'(?:' + _unit(slot.unit) + ')?' if slot.unit else ''}(?!\w))"


def _unit(unit: str) -> str:
    if not unit:
        return ""
    if not unit.isascii():
        return r"\s?" + re.escape(unit)
    return rf"\s?(?i:{re.escape(unit)})(?![A-Za-z_])"


def _befores(key: Key, first: Slot, slots: Sequence[Slot]) -> Iterator[tuple[str, str]]:
    """What may stand before a slot, with a literal that it holds: short and sure ones first."""
    for length in range(1, _num_common(slots) + 1):
        words = first.words[-length:]
        yield words[-1], _words(words) + GAP
    if first.words:
        return
    if first.unit or first.total is not None or first.kind != "number":
        yield "", r"(?<![\w.,/:-])"
    before = key[1]
    for between in (1, 2, 3) if before else ():
        skipped = rf"(?:(?:{CLOCK}|{NUMBER})[^\s\w]?\W{{1,12}}?){{{between}}}"
        yield "", rf"(?<!\w)(?i:{re.escape(before)}){GAP}{skipped}"
    for skipped in ("", r"\S{1,40}\s{1,8}", r"\S{1,40}\s{1,8}\S{1,40}\s{1,8}"):
        yield "", rf"^\W{{0,8}}?{skipped}\W{{0,8}}?"


def _signs_before(line: str, begin: int) -> str:
    """The signs between a number and the word or number before it."""
    end = begin
    while begin > 0 and not (line[begin - 1].isalnum() or line[begin - 1] == "_"):
        begin -= 1
    return line[begin:end]


def _words(words: Sequence[str]) -> str:
    # Behind the word, not before it: a pattern that begins with a literal is found much faster.
    first = re.escape(words[0])
    left = rf"(?<!\w{first})" if words[0][0].isascii() else ""
    return r"\W{1,8}".join([first + left, *(re.escape(word) for word in words[1:])])


def _num_common(slots: Sequence[Slot]) -> int:
    """How many words before the slot are the same on nearly all lines."""
    first = slots[0].words
    common = 0
    while common < len(first):
        tail = first[-common - 1 :]
        same = sum(slot.words[-common - 1 :] == tail for slot in slots)
        if same < PROVEN * len(slots):
            break
        common += 1
    return common
