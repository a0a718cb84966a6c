"""The page about the Saver has every name, and every default, that the code has."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import instride

pytestmark = pytest.mark.torch
PAGE = (Path(__file__).parents[2] / "docs/reference/saver.md").read_text(encoding="utf-8")
ROW = re.compile(r"\| `(\w+)` \| (?:`(.+?)`)? ?\|", re.MULTILINE)


def section(head: str) -> str:
    """From a heading on, to the next one of any kind."""
    parts = re.split(r"^#+ ", PAGE, flags=re.MULTILINE)
    return {part.partition("\n")[0]: part for part in parts}[head]


@pytest.mark.parametrize(
    ("head", "function"),
    [
        ("`Saver(directory, *, ...)`", instride.Saver),
        ("`saver.save(step, *, ...)`", instride.Saver.save),
        ("`saver.due(step, *, ...)`", instride.Saver.due),
        ("`saver.restore(*, ...)`", instride.Saver.restore),
        ("`Keep(*, ...)`", instride.Keep),
        ("`instride.save(obj, path)`, `instride.load(path, ...)`", instride.load),
    ],
)
def test_every_argument_stands_there_with_its_default(
    head: str, function: Callable[..., object]
) -> None:
    parameters = inspect.signature(function).parameters.values()
    arguments = {
        each.name: "" if each.default is each.empty else repr(each.default)
        for each in parameters
        if each.name != "self" and each.kind is not each.VAR_KEYWORD
    }
    table = section(head).partition("| attribute |")[0]
    assert dict(ROW.findall(table)) == arguments


@pytest.mark.parametrize("kind", [instride.Pending, instride.SavedCheckpoint, instride.Saver])
def test_every_public_name_stands_there(kind: type) -> None:
    names = {name for name in (*vars(kind), *kind.__annotations__) if not name.startswith("_")}
    inside = {"await_done", "commit", "fail", "hurry"}  # of a Pending, for the engine
    assert {name for name in names - inside if f"`{name}" not in PAGE} - {
        name for name in names if f"saver.{name}(" in PAGE
    } == set()
