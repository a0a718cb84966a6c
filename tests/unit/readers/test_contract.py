"""What every registered reader must do, whatever its trainer prints."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isnan

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instride.steps.model import Run
from instride.steps.readers import READERS
from instride.steps.readers.contract import LONGEST_LINE, Reader
from tests.unit.readers.reading import run_of

EACH_READER = pytest.mark.parametrize("reader_type", READERS, ids=lambda r: r.dialect.name)
SINGLE_LINES = pytest.mark.parametrize(
    "reader_type",
    [reader for reader in READERS if not reader.takes_long_lines],
    ids=lambda r: r.dialect.name,
)
"""A whole document on one line cannot have a prefix: it is a file of its own."""

PREFIXES = (
    "[rank3]: ",
    "[rank3]:",
    "(TaskRunner pid=1) ",
    "2025-03-01T10:00:00.250Z ",
    "2025-03-01 10:00:00,250 ",
    "[rank0]: 2025-03-01T10:00:00Z ",
)
NUMBER = re.compile(r"\d+(?:\.\d+)?")
WRONG_NUMBERS = (
    "nan",
    "NaN",
    "inf",
    "-1",
    "1e999",
    "1,234,567",
    "1.2.3",
    "9" * 400,
    "\u0663",
    "\u00b2",
    "",
)


def records(run: Run) -> list[tuple[int, float | None]]:
    return [
        (step, None if isnan(seconds := run.seconds_at(index)) else seconds)
        for index, step in enumerate(run.step)
    ]


def mutations(sample: str) -> Iterator[str]:
    """The sample as crashes, full disks and several writers leave it behind."""
    for cut in range(len(sample)):
        yield sample[:cut]
        yield sample[cut:]
        yield sample[:cut] + sample
    yield sample + sample
    yield f"{sample} {sample}"
    for digit in "09":
        yield re.sub(r"\d", digit, sample)
    for number in WRONG_NUMBERS:
        yield NUMBER.sub(number, sample)
        for found in NUMBER.finditer(sample):
            yield sample[: found.start()] + number + sample[found.end() :]
    yield from (prefix + sample for prefix in PREFIXES)


def long_lines(sample: str) -> Iterator[str]:
    """Lines as long as a reader ever sees, alone and behind what makes a reader look closer."""
    middle = sample[: len(sample) // 2]
    for text in ("a", "7", " ", "|", ":", ", ", "a ", "1 ", "| ", middle, sample[:-1], sample):
        garbage = (text * (LONGEST_LINE // max(1, len(text)) + 1))[:LONGEST_LINE]
        yield garbage
        for cut in range(0, len(sample), 7):
            yield (sample[:cut] + garbage)[:LONGEST_LINE]


def test_names_are_unique_lower_case_words_with_dashes() -> None:
    names = [reader.dialect.name for reader in READERS]
    assert len(set(names)) == len(names)
    assert [name for name in names if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", name)] == []


@EACH_READER
def test_a_sample_is_one_line_that_its_own_reader_recognises(reader_type: type[Reader]) -> None:
    sample = reader_type.dialect.sample
    assert len(sample.splitlines()) == 1
    assert reader_type.sniff(sample)


@EACH_READER
def test_a_sample_is_recognised_by_no_reader_that_would_be_preferred(
    reader_type: type[Reader],
) -> None:
    sample = reader_type.dialect.sample
    earlier = READERS[: READERS.index(reader_type)]
    assert [reader.dialect.name for reader in earlier if reader.sniff(sample)] == []


@EACH_READER
def test_nothing_is_read_from_nothing(reader_type: type[Reader]) -> None:
    run = run_of(reader_type, ["", " ", "\t", "Traceback (most recent call last):"])
    assert len(run) == 0
    assert not any(reader_type.sniff(line) for line in ("", " ", "step", "loss", "time: 1.0 s"))


@EACH_READER
@settings(max_examples=50, deadline=None)
@given(lines=st.lists(st.text(max_size=120), max_size=8))
def test_any_text_is_taken_without_an_error(reader_type: type[Reader], lines: list[str]) -> None:
    run_of(reader_type, lines)
    for line in lines:
        reader_type.sniff(line)


@EACH_READER
@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_a_sample_with_any_damage_is_taken_without_an_error(
    reader_type: type[Reader], data: st.DataObject
) -> None:
    sample = reader_type.dialect.sample
    begin = data.draw(st.integers(0, len(sample)))
    end = data.draw(st.integers(begin, len(sample)))
    damage = data.draw(st.text(max_size=20))
    run_of(reader_type, [sample, sample[:begin] + damage + sample[end:], sample])


@EACH_READER
def test_a_damaged_sample_is_taken_without_an_error(reader_type: type[Reader]) -> None:
    sample = reader_type.dialect.sample
    for line in mutations(sample):
        reader_type.sniff(line)
        run_of(reader_type, [line])
    run_of(reader_type, mutations(sample))


@SINGLE_LINES
@pytest.mark.parametrize("prefix", PREFIXES)
def test_a_prefix_changes_neither_step_nor_seconds(reader_type: type[Reader], prefix: str) -> None:
    sample = reader_type.dialect.sample
    assert reader_type.sniff(prefix + sample)
    plain, prefixed = run_of(reader_type, [sample]), run_of(reader_type, [prefix + sample])
    assert records(prefixed) == records(plain)
    assert [event.kind for event in prefixed.events] == [event.kind for event in plain.events]


@EACH_READER
def test_long_lines_are_taken_without_a_hang(reader_type: type[Reader]) -> None:
    """A pattern that tries everything would need hours: faulthandler ends the test run then."""
    lines = list(long_lines(reader_type.dialect.sample))
    for line in lines:
        reader_type.sniff(line)
    run_of(reader_type, lines)
