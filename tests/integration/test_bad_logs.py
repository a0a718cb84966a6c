"""Logs without steps, without times, or with too much of anything."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.integration.bad_input import NO_STEPS, NO_TIMES, nanogpt
from tests.integration.commands import Screen

pytestmark = pytest.mark.usefixtures("own_directory")


def stamped(step: int, seconds: float) -> str:
    moment = datetime(2026, 3, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    return f"{moment:%Y-%m-%d %H:%M:%S} {nanogpt([step])}"


@pytest.mark.parametrize("content", ["hello\n", "\n\n\n", "loss 2.5\nloss 2.4\n", "\ufffd" * 50])
def test_a_log_without_steps_is_told_how_to_describe_them(screen: Screen, content: str) -> None:
    Path("train.log").write_text(content, encoding="utf-8")
    code, error, hint = screen.refusal("train.log")
    assert code == NO_STEPS
    assert error.startswith("no training steps found in `train.log`")
    assert "--pattern" in hint


def test_a_log_of_another_dialect_than_asked_for_has_no_steps(screen: Screen) -> None:
    Path("train.log").write_text(nanogpt(range(50)))
    code, error, _ = screen.refusal("train.log", "--dialect", "torchtitan")
    assert code == NO_STEPS
    assert "torchtitan" in error


def test_a_pattern_that_matches_nothing_finds_no_steps(screen: Screen) -> None:
    Path("train.log").write_text(nanogpt(range(50)))
    code, _, _ = screen.refusal("train.log", "--pattern", r"tick (?P<step>\d+) (?P<ms>\d+)")
    assert code == NO_STEPS


@pytest.mark.parametrize("num_steps", [1, 2])
def test_one_or_two_steps_are_enough_for_an_answer(screen: Screen, num_steps: int) -> None:
    Path("train.log").write_text(nanogpt(range(num_steps)))
    assert "an ordinary step takes 120 ms" in screen.show("train.log")


def test_times_of_zero_are_of_no_use(screen: Screen) -> None:
    Path("train.log").write_text(nanogpt(range(50), "0.00ms"))
    code, error, hint = screen.refusal("train.log")
    assert (code, error) == (NO_TIMES, "`train.log` has 50 steps, but all their times are zero")
    assert "ts " in hint


@pytest.mark.parametrize("time", ["nanms", "infms"])
@pytest.mark.parametrize("num_steps", [1, 50])
def test_times_that_are_no_numbers_are_of_no_use(screen: Screen, time: str, num_steps: int) -> None:
    Path("train.log").write_text(nanogpt(range(num_steps), time))
    code, error, _ = screen.refusal("train.log")
    assert code == NO_TIMES
    assert error.startswith(f"`train.log` has {num_steps} step")
    assert "no time of a step could be read" in error


def test_a_few_times_that_are_no_numbers_do_no_harm(screen: Screen) -> None:
    times = ["nanms", "infms", "0.00ms"]
    odd = "".join(nanogpt([50 + number], time) for number, time in enumerate(times))
    Path("train.log").write_text(nanogpt(range(50)) + odd + nanogpt(range(53, 100)))
    assert "an ordinary step takes 120 ms" in screen.show("train.log")


@pytest.mark.parametrize(
    "steps",
    [range(50, 0, -1), [5] * 50, [0, 10**15, 1, 10**15 + 1] * 20, [*range(9)] * 9],
    ids=["down", "one", "jumps", "again and again"],
)
def test_steps_that_go_backwards_are_answered(screen: Screen, steps: list[int]) -> None:
    Path("train.log").write_text(nanogpt(steps))
    assert "Where the time went" in screen.show("train.log")


@pytest.mark.parametrize("jump_s", [-3600, -86400 * 400, 86400 * 4000])
def test_a_clock_that_jumps_is_answered(screen: Screen, jump_s: float) -> None:
    lines = [stamped(step, step * 0.12 + (jump_s if step >= 50 else 0)) for step in range(100)]
    Path("train.log").write_text("".join(lines))
    printed = screen.show("train.log")
    assert "an ordinary step takes 120 ms" in printed or "an ordinary step takes 1" in printed
    assert ("clock goes back once" in printed) == (jump_s < 0)


def test_ten_megabytes_on_one_line_do_not_hide_the_steps(screen: Screen) -> None:
    Path("train.log").write_text(
        nanogpt(range(50)) + "x" * (10 << 20) + "\n" + nanogpt(range(50, 100))
    )
    assert "steps 0 to 99" in screen.show("train.log")


def test_ten_megabytes_on_one_line_and_nothing_else_have_no_steps(screen: Screen) -> None:
    Path("train.log").write_text("iter 1: loss " * ((10 << 20) // 13))
    assert screen.refusal("train.log")[0] == NO_STEPS


def test_fifty_ranks_in_one_log_are_one_run(screen: Screen) -> None:
    dice = random.Random(5)
    behind = [dice.randint(0, 3) for _ in range(50)]
    steps = [
        now - late for now in range(103) for late in sorted(behind, key=lambda _: dice.random())
    ]
    Path("train.log").write_text(nanogpt([step for step in steps if 0 <= step < 100]))
    printed = screen.show("train.log")
    assert "steps 0 to 99, all logged; " in printed
    assert "Several ranks print the same steps: 4,900 left out." in printed
