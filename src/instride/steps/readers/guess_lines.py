"""Lines taken apart for learning, and brought together with others of their kind."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from instride.steps.readers.guess_columns import FEWEST_RECORDS, MOSTLY
from instride.steps.readers.guess_slots import Slot, parts
from instride.steps.readers.guess_words import EVAL_WORD, EVALUATES
from instride.steps.stamps import find_form

LONGEST_LEARNT = 4096
ALIKE = 0.5
"""Share of their words that two lines of one kind have in common."""
MOST_KINDS = 3
EPOCH_LINE = re.compile(r"(?<![^\W_])(?i:epoch)\W{0,6}(\d{1,6})(?!\.?\d)")

Key = tuple[str, str, str, str, int]
"""What tells a slot from others of its line: its label, or the one before it if it has none; its
unit; its kind; and how many equal ones came before."""


class Line(NamedTuple):
    number: int
    text: str
    slots: dict[Key, Slot]
    words: frozenset[str]
    form: str | None
    """The form of its timestamp."""


def take_apart(number: int, text: str) -> Line | None:
    """A line and its slots, without the numbers of its timestamp; None if nothing can be learnt."""
    if len(text) > LONGEST_LEARNT or not any(char.isdigit() for char in text):
        return None
    stamp = find_form(text)
    masked = text
    if stamp is not None:
        _, begin, end = stamp
        masked = text[:begin] + " " * (end - begin) + text[end:]
    found = parts(masked)
    slots: dict[Key, Slot] = {}
    seen: Counter[tuple[str, str, str, str]] = Counter()
    before = ""
    for slot in found.slots:
        label = slot.label.lower()
        kind = "number" if slot.kind == "odd" else slot.kind
        kind = kind if slot.total is None else "fraction"
        name = (label, "" if label else before, slot.unit, kind)
        slots[(*name, seen[name])] = slot
        seen[name] += 1
        before = label or before
    return Line(number, text, slots, found.words, stamp[0] if stamp else None)


def kinds(lines: list[Line]) -> list[list[Line]]:
    """Lines of one kind: those with nearly the same words; the most frequent kinds first."""
    groups: list[list[Line]] = []
    for words, _ in Counter(line.words for line in lines).most_common(MOST_KINDS):
        group = [line for line in lines if _is_alike(words, line.words)]
        if len(group) >= FEWEST_RECORDS and group not in groups:
            groups.append(group)
    return groups


def _is_alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= ALIKE * len(one | other)


def are_evaluation(lines: Sequence[Line]) -> bool:
    """Whether these are the samples of an evaluation, which may have a log of its own."""
    named = sum(EVAL_WORD.search(line.text) is not None for line in lines)
    return named >= MOSTLY * len(lines) and not any("train" in line.text.lower() for line in lines)


def announce_evaluation(lines: Sequence[Line]) -> bool:
    """Whether the lines say that something is evaluated, or was."""
    return sum(EVALUATES.search(line.text) is not None for line in lines) > 0.5 * len(lines)


def epoch_headers(lines: Sequence[tuple[int, str]]) -> dict[int, int]:
    """Epochs by the number of the line that names one."""
    return {
        number: int(found[1])
        for number, text in lines
        if len(text) < 400 and (found := EPOCH_LINE.search(text))
    }


def epochs_at(lines: Sequence[Line], headers: dict[int, int]) -> list[int]:
    """The epoch that each line is in, by the lines before it that name one."""
    pending = sorted(headers.items(), reverse=True)
    epoch = min(headers.values())
    epochs = []
    for line in lines:
        while pending and pending[-1][0] <= line.number:
            epoch = pending.pop()[1]
        epochs.append(epoch)
    return epochs
