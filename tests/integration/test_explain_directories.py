"""`instride explain` on a directory: which files are taken, and in which order."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tests.integration.commands import (
    Screen,
    as_nobody,
    observed,
)
from tests.integration.logs import nanogpt, torchtitan

pytestmark = pytest.mark.usefixtures("own_directory")


def test_files_of_a_directory_are_ordered_by_their_first_time(screen: Screen) -> None:
    Path("b.log").write_text(torchtitan(10, 500, start_s=0))
    Path("c.log").write_text(torchtitan(400, 800, start_s=5000))
    Path("a.log").write_text(torchtitan(700, 900, start_s=9000))
    answer = screen.answer(".")
    assert answer["source"] == ["b.log", "c.log", "a.log"]
    assert [restart["resumed_at"] for restart in answer["restarts"]] == [400, 700]


def test_files_without_times_are_ordered_by_the_numbers_in_their_names(screen: Screen) -> None:
    for part in (1, 2, 10):
        Path(f"part{part}.log").write_text(nanogpt(part * 100, part * 100 + 150))
    answer = screen.answer(".")
    assert answer["source"] == ["part1.log", "part2.log", "part10.log"]


def test_rotated_logs_are_read_oldest_first(screen: Screen) -> None:
    Path("train.log").write_text(nanogpt(200, 300))
    Path("train.log.1").write_text(nanogpt(100, 200))
    Path("train.log.2.gz").write_bytes(gzip.compress(nanogpt(0, 100).encode()))
    answer = screen.answer(".")
    assert answer["source"] == ["train.log.2.gz", "train.log.1", "train.log"]


def test_other_files_of_a_directory_are_passed_over(screen: Screen) -> None:
    Path("train.log").write_text(nanogpt(0, 100))
    Path("empty.log").touch()
    Path("model.log").write_bytes(b"PK\x03\x04" + bytes(1000))
    Path("notes.txt").write_text("lr 3e-4 was too high\n")
    Path("broken.gz").write_bytes(b"\x1f\x8b\x08\x00")
    Path("config.json").write_text('{"lr": 0.1}')
    Path("iter.py").write_text(nanogpt(0, 100))
    Path("gone.log").symlink_to("nowhere")
    Path("deeper").mkdir()
    Path("deeper/other.log").write_text(nanogpt(0, 50))
    assert screen.answer(".")["source"] == ["train.log"]


def test_a_file_that_may_not_be_read_is_passed_over_in_a_directory(screen: Screen) -> None:
    Path("train.log").write_text(nanogpt(0, 100))
    Path("secret.log").write_text(nanogpt(100, 200))
    Path("secret.log").chmod(0)
    Path.cwd().chmod(0o755)
    with as_nobody():
        assert screen.answer(".")["source"] == ["train.log"]


def test_a_link_to_the_latest_log_is_not_read_again(screen: Screen) -> None:
    Path("run1.log").write_text(nanogpt(0, 100))
    Path("latest.log").symlink_to("run1.log")
    answer = screen.answer(".")
    assert answer["source"] == ["run1.log"]
    assert not any("Left out" in sentence for sentence in answer["unknown"])


def test_the_dialect_of_most_files_is_that_of_the_directory(screen: Screen) -> None:
    Path("a.log").write_text(torchtitan(10, 300, start_s=0))
    Path("b.log").write_text(nanogpt(0, 100))
    Path("c.log").write_text(nanogpt(100, 200))
    assert screen.answer(".")["source"] == ["b.log", "c.log"]


def test_the_dialect_or_pattern_asked_for_picks_the_files_of_a_directory(screen: Screen) -> None:
    Path("a.log").write_text(torchtitan(10, 300, start_s=0))
    Path("b.log").write_text(nanogpt(0, 100))
    Path("c.log").write_text("".join(f"tick {n} took {n % 5 + 20}\n" for n in range(50)))
    assert screen.answer(".", "--dialect", "torchtitan")["source"] == ["a.log"]
    pattern = r"tick (?P<step>\d+) took (?P<ms>\d+)"
    assert screen.answer(".", "--pattern", pattern)["source"] == ["c.log"]


def test_a_directory_of_an_unknown_trainer_is_guessed(screen: Screen) -> None:
    def strange(first: int, last: int) -> str:
        return "".join(
            f"<< update={n} | objective=0.51 | step_time={0.4 + n % 3 / 100:.3f}s >>\n"
            for n in range(first, last)
        )

    Path("run1.log").write_text(strange(0, 60))
    Path("run2.log").write_text(strange(60, 100))
    Path("readme.txt").write_text("how to train\n")
    answer = screen.answer(".")
    assert answer["source"] == ["run1.log", "run2.log"]
    assert observed(answer) == (0, 99, 100)


def test_a_directory_and_a_file_can_be_named_together(screen: Screen) -> None:
    Path("old").mkdir()
    Path("old/train.log").write_text(nanogpt(0, 100))
    Path("train.log").write_text(nanogpt(100, 200))
    assert screen.answer("old", "train.log")["source"] == ["old/train.log", "train.log"]
