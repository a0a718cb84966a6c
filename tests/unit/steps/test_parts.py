"""Which of several files repeat each other, and in which order the others were written."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from instride.steps.notes import Facts, Note
from instride.steps.parts import OPENING_STEPS, in_order, name_order, read_once, read_opening
from instride.steps.readers.nanogpt import NanoGPT
from instride.steps.source import Source


def nanogpt(first: int, last: int, ms: float = 100.0, start_s: float | None = None) -> str:
    """One step a second; with the time of day if the log has a start."""
    lines = []
    for step in range(first, last):
        seconds = 0 if start_s is None else int(start_s) + step - first
        stamp = f"2026-03-01 {seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02} "
        line = f"iter {step}: loss 3.1000, time {ms + step % 5:.2f}ms, mfu 9.10%\n"
        lines.append(line if start_s is None else stamp + line)
    return "".join(lines)


@pytest.fixture(autouse=True)
def _in_a_directory_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def sources(**texts: str) -> list[Source]:
    """Files by name, in the order given; `__` stands for a slash, `_` stays."""
    found = []
    for key, text in texts.items():
        path = Path(key.replace("__", "/") + ".log")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        found.append(Source(str(path)))
    return found


def kept(**texts: str) -> list[str]:
    left, notes = read_once(sources(**texts), NanoGPT)
    assert any(note.id == "same-steps" for note in notes) == (len(left) < len(texts))
    return [source.name.removesuffix(".log") for source in left]


def test_the_lowest_rank_stays() -> None:
    assert kept(rank10=nanogpt(0, 80), rank9=nanogpt(0, 80, 101)) == ["rank9"]


@pytest.mark.parametrize("word", ["rank", "node", "gpu", "local", "worker_", "LOCAL_RANK_"])
def test_many_words_stand_for_a_rank(word: str) -> None:
    texts = {f"run_{word}{n}": nanogpt(0, 80, 100 + n) for n in range(3)}
    assert kept(**texts) == [f"run_{word}0"]


@pytest.mark.parametrize("word", ["run", "part", "prank", "job", "attempt_", "v"])
def test_other_numbers_are_parts(word: str) -> None:
    texts = {f"{word}{n}": nanogpt(0, 80, 100 + n) for n in range(3)}
    assert kept(**texts) == list(texts)


def test_a_directory_with_nothing_but_a_number_is_a_rank() -> None:
    assert kept(att__0__out=nanogpt(0, 80), att__1__out=nanogpt(0, 80, 101)) == ["att/0/out"]


def test_a_date_at_the_beginning_of_a_name_is_no_rank() -> None:
    texts = {f"logs__{year}-05-01_run": nanogpt(0, 80, 100 + year) for year in (2025, 2026)}
    assert len(kept(**texts)) == 2


def test_ranks_with_other_steps_are_parts() -> None:
    assert kept(node0=nanogpt(0, 80), node1=nanogpt(60, 160)) == ["node0", "node1"]


def test_ranks_at_other_times_are_parts() -> None:
    assert kept(node0=nanogpt(0, 80, start_s=0), node1=nanogpt(0, 80, start_s=3600)) == [
        "node0",
        "node1",
    ]


def test_ranks_whose_clocks_are_seconds_apart_are_ranks() -> None:
    assert kept(node0=nanogpt(0, 80, start_s=0), node1=nanogpt(0, 80, 120, start_s=20)) == ["node0"]


def test_equal_steps_at_equal_times_are_one_run_whatever_the_names() -> None:
    assert kept(a=nanogpt(0, 80, start_s=0), b=nanogpt(0, 80, 120, start_s=1)) == ["a"]
    assert kept(a=nanogpt(0, 80, start_s=0), b=nanogpt(0, 80, start_s=900)) == ["a", "b"]


def test_equal_durations_are_a_copy_and_others_are_not() -> None:
    assert kept(a=nanogpt(0, 80), b="a line more\n" + nanogpt(0, 60)) == ["a"]
    assert kept(a=nanogpt(0, 80), b=nanogpt(0, 80, 100.5)) == ["a", "b"]
    assert kept(a=nanogpt(0, 2), b=nanogpt(0, 2)) == ["a", "b"]


def test_a_file_without_steps_repeats_nothing() -> None:
    assert kept(rank0=nanogpt(0, 80), rank1="waiting for rank 0\n") == ["rank0", "rank1"]


def test_the_order_given_stays() -> None:
    first, second, third = nanogpt(0, 50), nanogpt(50, 90), nanogpt(90, 99)
    assert kept(b=first, a=second, c_rank1=third, c_rank0=third) == ["b", "a", "c_rank0"]


def test_a_note_names_a_few_files_and_counts_the_rest() -> None:
    ranks = sources(**{f"rank{n}": nanogpt(0, 80, 100 + n) for n in range(9)})
    _, (note,) = read_once(ranks, NanoGPT)
    few = "rank1.log, rank2.log, rank3.log"
    assert note == Note("same-steps", {"kept": "rank0.log", "left_out": few, "more": 5})


def test_a_note_gives_the_paths_of_files_with_one_name() -> None:
    _, (note,) = read_once(
        sources(x__0__out=nanogpt(0, 80), x__1__out=nanogpt(0, 80, 101)), NanoGPT
    )
    facts: Facts = {"kept": "x/0/out.log", "left_out": "x/1/out.log", "more": 0}
    assert note == Note("same-steps", facts)


@pytest.mark.parametrize(
    ("firsts", "told"),
    [((0, 0), True), ((0, 100, 0), True), ((0, 100), False), ((5000, 5000), False)],
)
def test_a_file_that_starts_from_scratch_like_the_one_before_it_is_told(
    firsts: tuple[int, ...], told: bool
) -> None:
    texts = {f"part{n}": nanogpt(first, first + 80, 100 + n) for n, first in enumerate(firsts)}
    _, notes = read_once(sources(**texts), NanoGPT)
    assert [note.id for note in notes] == ["other-run"] * told


def test_an_opening_is_read_no_further_than_needed() -> None:
    (source,) = sources(a=nanogpt(0, 10_000, start_s=0))
    opening = read_opening(source, NanoGPT)
    assert opening.steps == list(range(OPENING_STEPS))
    assert len(opening.walls) == len(opening.seconds) == OPENING_STEPS
    assert opening.walls[1] - opening.walls[0] == 1.0


def test_parts_are_ordered_by_time_and_else_by_name() -> None:
    timed = sources(b=nanogpt(0, 9, start_s=0), a=nanogpt(9, 20, start_s=99))
    assert [source.name for source in in_order(timed[::-1], NanoGPT)] == ["b.log", "a.log"]
    mixed = sources(b=nanogpt(0, 9, start_s=0), a=nanogpt(9, 20))
    assert [source.name for source in in_order(mixed, NanoGPT)] == ["a.log", "b.log"]


@pytest.mark.parametrize(
    "names",
    [
        ["run1.log", "run2.log", "Run10.log", "run10b.log", "run11.log.gz", "s.log"],
        ["a.log.10.gz", "a.log.2.gz", "a.log.1", "a.log", "b.log.1", "b.log"],
    ],
)
def test_names_are_ordered_as_people_number_them(names: list[str]) -> None:
    shuffled = random.Random(3).sample(names, len(names))
    assert sorted(shuffled, key=name_order) == names
