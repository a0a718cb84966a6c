"""Options and verbs that cannot be: refused by name, with what was meant."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from instride.cli.main import main
from tests.integration.bad_input import BAD_PATTERN, UNKNOWN_DIALECT, USAGE, nanogpt
from tests.integration.commands import Screen

pytestmark = pytest.mark.usefixtures("own_directory")


BAD_PATTERNS = [
    "(",
    "",
    "step",
    r"step (\d+)",
    r"(?P<stepp>\d+)",
    r"(?P<ms>\d+)",
    r"(?P<step>(\d+)+)+x(?P<ms>.)",
]


@pytest.mark.parametrize(("name", "nearest"), [("nanogtp", "nanogpt"), ("torchtian", "torchtitan")])
def test_an_unknown_dialect_is_answered_with_the_nearest(
    screen: Screen, name: str, nearest: str
) -> None:
    Path("train.log").write_text(nanogpt(range(50)))
    code, error, hint = screen.refusal("train.log", "--dialect", name)
    assert (code, error) == (UNKNOWN_DIALECT, f"no dialect is called `{name}`")
    assert f"did you mean `--dialect {nearest}`?" in hint
    assert "instride explain --dialects" in hint


@pytest.mark.parametrize("name", ["?", "foo", "x"])
def test_a_dialect_that_resembles_none_is_answered_with_the_list(screen: Screen, name: str) -> None:
    code, _, hint = screen.refusal("train.log", "--dialect", name)
    assert code == UNKNOWN_DIALECT
    assert "did you mean" not in hint


@pytest.mark.parametrize("pattern", BAD_PATTERNS)
def test_a_bad_pattern_is_shown_with_what_is_wrong(screen: Screen, pattern: str) -> None:
    Path("train.log").write_text(nanogpt(range(50)))
    code, error, hint = screen.refusal("train.log", "--pattern", pattern)
    assert code == BAD_PATTERN
    assert error.startswith(f"the pattern `{pattern}` cannot be used: ")
    assert "(?P<step>" in hint


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ([], ["no log given"]),
        (["a.log", "--dialect", "nanogpt", "--pattern", "x"], ["--dialect", "--pattern"]),
        (["a.log", "--follow", "--json"], ["--follow", "--json"]),
        (["a.log", "b.log", "--follow"], ["--follow", "one"]),
        (["-", "-"], ["- can be given once"]),
        (["a.log", "--jsno"], ["--jsno"]),
        (["a.log", "--dialect"], ["--dialect"]),
    ],
)
def test_options_that_exclude_each_other_are_refused_by_name(
    screen: Screen, args: list[str], words: list[str]
) -> None:
    code, error, hint = screen.refusal(*args)
    assert code == USAGE
    assert all(word in error for word in words)
    assert re.search(r"`instride (explain )?--help`", hint)


@pytest.mark.parametrize(
    ("args", "meant"),
    [
        (["exlpain"], "instride explain"),
        (["compaer", "a.log", "b.log"], "instride compare"),
        (["explain", "--jsno", "a.log"], "instride explain --json"),
        (["compare", "--langg", "de"], "instride compare --lang"),
        (["--verson"], "instride --version"),
    ],
)
def test_a_misspelt_verb_or_option_is_answered_with_what_was_meant(
    capsys: pytest.CaptureFixture[str], args: list[str], meant: str
) -> None:
    assert main(args) == USAGE
    assert f"did you mean `{meant}`?" in capsys.readouterr().err


@pytest.mark.parametrize("args", [["foo"], ["--wrong"], ["explain", "--wrong"], ["-x"]])
def test_what_resembles_nothing_gets_no_suggestion(
    capsys: pytest.CaptureFixture[str], args: list[str]
) -> None:
    assert main(args) == USAGE
    complaint = capsys.readouterr().err
    assert f"`{args[-1]}`" in complaint
    assert "mean" not in complaint


def test_a_log_without_a_verb_is_answered_with_the_verb(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("train.log").write_text(nanogpt(range(50)))
    assert main(["train.log"]) == USAGE
    assert "did you mean `instride explain train.log`?" in capsys.readouterr().err
