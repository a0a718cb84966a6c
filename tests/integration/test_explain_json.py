"""`instride explain --json`: a contract with programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.commands import (
    ANSWERED,
    Screen,
    observed,
    run,
    strict_json,
)
from tests.integration.contract import CONTRACT, NUMBER, breaches
from tests.integration.logs import nanogpt, torchtitan

pytestmark = pytest.mark.usefixtures("own_directory")


def test_the_check_of_the_contract_finds_breaches() -> None:
    assert list(breaches({"a": 1}, {"a": str})) == ["answer.a is 1"]
    assert list(breaches({"a": True}, {"a": NUMBER})) == ["answer.a is True"]
    assert list(breaches({}, {"a": int})) == ["answer has []"]
    assert list(breaches([None, 2], [(None, int)])) == []


def test_the_json_keeps_its_contract(screen: Screen) -> None:
    Path("train.log").write_text(nanogpt(0, 300) + nanogpt(250, 600))
    answer = screen.answer("train.log")
    assert list(breaches(answer, CONTRACT)) == []
    assert answer["schema"] == 1
    assert answer["dialect"] == "nanogpt"
    assert answer["source"] == ["train.log"]
    assert observed(answer) == (0, 599, 650)
    assert [restart["resumed_at"] for restart in answer["restarts"]] == [250]
    assert sum(owner["share"] for owner in answer["owners"].values()) == pytest.approx(1)
    assert answer["spans"]
    assert answer["findings"]


@pytest.mark.parametrize(
    "text",
    [nanogpt(0, 1), nanogpt(0, 2), torchtitan(10, 40, 0), nanogpt(5, 200, pause_every=10**9)],
    ids=["one step", "two steps", "torchtitan", "no pauses"],
)
def test_any_answer_keeps_the_contract(screen: Screen, text: str) -> None:
    Path("train.log").write_text(text)
    assert list(breaches(screen.answer("train.log"), CONTRACT)) == []


def test_json_is_utf_8_in_any_terminal() -> None:
    lines = nanogpt(0, 300).replace("val loss", "\u4e2d val loss")
    Path("train.log").write_text(lines, encoding="utf-8")
    done = run(["explain", "--json", "train.log"], {"PYTHONIOENCODING": "ascii"})
    assert done.returncode in ANSWERED, done.stderr
    assert "\u4e2d val loss" in str(strict_json(done.stdout.decode("utf-8")))
