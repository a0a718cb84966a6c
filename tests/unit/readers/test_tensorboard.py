"""TensorBoard scalars as its page exports them."""

from __future__ import annotations

import pytest

from instride.steps.model import Run
from instride.steps.readers.tensorboard import TensorBoard
from instride.steps.reading import detect
from tests.unit.readers.drawing import read as read_as

BEGIN = 1_700_000_000.25
HEADER = "Wall time,Step,Value"


def read(lines: list[str]) -> Run:
    return read_as(TensorBoard, lines)


def table(num_rows: int) -> list[str]:
    return [HEADER, *(f"{BEGIN + 5 * n},{10 * n},{3 - n / 100}" for n in range(num_rows))]


def document(num_rows: int, value: str = "2.25") -> str:
    points = (f"[{BEGIN + 5 * n}, {10 * n}, {value}]" for n in range(num_rows))
    return "[" + ", ".join(points) + "]"


@pytest.mark.parametrize("lines", [table(30), [document(30)]], ids=["csv", "json"])
def test_every_value_is_a_record_with_its_time(lines: list[str]) -> None:
    run = read(lines)
    assert list(run.step) == list(range(0, 300, 10))
    assert list(run.wall) == [BEGIN + 5 * n for n in range(30)]
    assert run.clock_is_absolute is True
    assert all(seconds != seconds for seconds in run.seconds)


@pytest.mark.parametrize("lines", [table(30), [document(30)]], ids=["csv", "json"])
def test_it_is_recognised(lines: list[str]) -> None:
    assert detect(enumerate(lines, 1)) is TensorBoard


def test_a_document_longer_than_any_line_of_a_log_is_read() -> None:
    run = read([document(5000)])
    assert (len(run), run.step[-1]) == (5000, 49_990)


def test_values_may_be_anything() -> None:
    assert len(read([document(3, "NaN")])) == 3
    assert len(read([HEADER, f"{BEGIN},10,nan", f"{BEGIN},20,"])) == 1


def test_a_truncated_document_is_read_as_far_as_it_goes() -> None:
    assert len(read([document(30)[:400]])) == len(read([document(30)[:400]]).wall) > 5


@pytest.mark.parametrize(
    "line",
    ["[[1, 2, 3], [4, 5, 6]]", "[[[1700000000.1, 1, 2]]]", "step,wall time,value", "[["],
)
def test_other_lists_and_tables_are_not_recognised(line: str) -> None:
    assert not TensorBoard.sniff(line)


def test_rows_without_their_header_are_not_read() -> None:
    assert len(read(table(30)[1:])) == 0
