"""Errors: each has its own exit code, a sentence with the value, and a hint."""

from __future__ import annotations

import inspect
import re

import pytest

from instride import errors
from instride.errors import (
    BadPatternError,
    BinaryLogError,
    EmptyLogError,
    InstrideError,
    NoLogsError,
    NoStepsError,
    NoTimesError,
    UnknownDialectError,
    UnreadableLogError,
    UnwritableError,
)

ALL = [each for _, each in inspect.getmembers(errors, inspect.isclass)]
CLASSES = [each for each in ALL if issubclass(each, InstrideError)]
EXAMPLES: list[tuple[InstrideError, str]] = [
    (UnknownDialectError("nanogtp", "nanogpt"), "`nanogtp`"),
    (UnknownDialectError("x", None), "`x`"),
    (BadPatternError("(", "it is not closed"), "`(`"),
    (UnreadableLogError("train.log", "Permission denied"), "`train.log`"),
    (EmptyLogError("train.log"), "`train.log`"),
    (BinaryLogError("train.log"), "`train.log`"),
    (NoStepsError("train.log", "17 dialects"), "`train.log`"),
    (NoTimesError("train.log", 1, "no time could be read"), "`train.log`"),
    (NoLogsError("logs", 3), "`logs`"),
    (UnwritableError("no/where.html", "No such file or directory"), "`no/where.html`"),
]
TREE_LINE = re.compile(r"(?:[|`]-- )?(\w+Error) +(?:\((\w+)\) +)?(\d+)(?: .*)?")


def tree() -> dict[str, tuple[str, int]]:
    """The classes that the docstring of the module draws: their builtin and exit code."""
    found = {}
    for line in (errors.__doc__ or "").splitlines():
        if drawn := TREE_LINE.fullmatch(line.strip()):
            found[drawn[1]] = drawn[2] or "", int(drawn[3])
    return found


def test_the_tree_lists_every_class_with_its_exit_code() -> None:
    assert {name: code for name, (_, code) in tree().items()} == {
        each.__name__: each.exit_code for each in CLASSES
    }


def test_the_tree_names_the_builtin_that_each_class_also_is() -> None:
    for each in CLASSES:
        if each is not InstrideError:
            builtin, _ = tree()[each.__name__]
            assert [base.__name__ for base in each.__bases__] == ["InstrideError", builtin]


def test_no_two_errors_share_an_exit_code() -> None:
    codes = [each.exit_code for each in CLASSES]
    assert len(set(codes)) == len(codes)


def test_exit_codes_leave_room_for_answers_and_signals() -> None:
    assert all(2 <= each.exit_code < 100 for each in CLASSES)


@pytest.mark.parametrize(("error", "value"), EXAMPLES)
def test_a_message_has_the_value_and_a_hint_with_a_command(
    error: InstrideError, value: str
) -> None:
    assert value in str(error)
    assert not str(error).endswith(".")
    assert re.search(r"`[^`]+`|--\w+", error.hint)


def test_every_class_has_an_example_here() -> None:
    assert {type(error) for error, _ in EXAMPLES} == set(CLASSES) - {InstrideError}


def test_a_hint_can_be_given_with_the_message() -> None:
    assert InstrideError("it failed", "try again").hint == "try again"
    assert InstrideError("it failed").hint == ""


def test_one_step_is_not_called_steps() -> None:
    assert "has 1 step," in str(NoTimesError("a.log", 1, "it has no time"))
    assert "has 2 steps," in str(NoTimesError("a.log", 2, "they have no time"))


def test_the_nearest_name_is_suggested_where_there_is_one() -> None:
    assert "did you mean `--dialect nanogpt`?" in UnknownDialectError("nanogtp", "nanogpt").hint
    assert "did you mean" not in UnknownDialectError("x", None).hint
