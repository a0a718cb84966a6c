"""`instride explain` on several files: parts of a run, and ranks that repeat each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.commands import (
    Screen,
    observed,
)
from tests.integration.contract import CONTRACT, breaches
from tests.integration.logs import nanogpt, torchtitan

pytestmark = pytest.mark.usefixtures("own_directory")


def test_several_files_are_parts_of_one_run_in_the_order_given(screen: Screen) -> None:
    Path("z.log").write_text(nanogpt(0, 300))
    Path("a.log").write_text(nanogpt(280, 500))
    answer = screen.answer("z.log", "a.log")
    assert answer["source"] == ["z.log", "a.log"]
    assert observed(answer) == (0, 499, 520)
    (restart,) = answer["restarts"]
    assert (restart["resumed_at"], restart["lost_steps"]) == (280, 20)


@pytest.mark.parametrize("end", ["", "\x1b[0m", "no line feed"])
def test_evidence_of_several_files_names_the_file(screen: Screen, end: str) -> None:
    Path("1.log").write_text(nanogpt(0, 250) + end)
    Path("2.log").write_text(nanogpt(250, 660))
    answer = screen.answer("1.log", "2.log")
    evidence = [
        each for part in ("findings", "spans") for one in answer[part] for each in one["evidence"]
    ]
    assert {each["source"] for each in evidence} == {"1.log", "2.log"}
    for each in evidence:
        assert Path(each["source"]).read_text().splitlines()[each["line"] - 1] == each["text"]
    assert list(breaches(answer, CONTRACT)) == []


def test_a_file_that_starts_from_scratch_may_be_another_training_and_that_is_said(
    screen: Screen,
) -> None:
    Path("a.log").write_text(nanogpt(0, 300))
    Path("b c.log").write_text(nanogpt(0, 200, ms=130.0))
    answer = screen.answer("a.log", "b c.log")
    (told,) = [each for each in answer["unknown"] if "compare" in each]
    assert told == (
        "b c.log starts at step 0 again, like a.log: if these are two trainings and not one that "
        "was restarted, say `instride compare a.log 'b c.log'`."
    )
    (lost,) = [each for each in answer["findings"] if each["id"] == "lost"]
    assert lost["confidence"] == "medium"


def test_files_that_all_start_from_scratch_are_not_surely_a_loop_of_crashes(
    screen: Screen,
) -> None:
    for number, last in enumerate((900, 300, 200, 250)):
        Path(f"{number}.log").write_text(torchtitan(10, last, start_s=7200.0 * number))
    answer = screen.answer(".")
    (loop,) = [each for each in answer["findings"] if each["id"] == "crash-loop"]
    assert loop["confidence"] == "medium"
    assert any("instride compare 0.log 1.log" in each for each in answer["unknown"])


@pytest.mark.parametrize("first", [280, 300, 5000])
def test_a_file_that_goes_on_is_not_called_another_training(screen: Screen, first: int) -> None:
    Path("a.log").write_text(nanogpt(0, 300))
    Path("b.log").write_text(nanogpt(first, first + 200))
    answer = screen.answer("a.log", "b.log")
    assert not any("compare" in each for each in answer["unknown"])


def test_trainings_that_end_at_the_same_step_are_runs_and_not_restarts(screen: Screen) -> None:
    Path("a.log").write_text(nanogpt(0, 300))
    Path("b.log").write_text(nanogpt(0, 300, ms=130.0))
    assert "steps 0 to 299, all logged, 2 runs; " in screen.show("a.log", "b.log")


def test_a_log_of_another_trainer_is_left_out_and_that_is_said(screen: Screen) -> None:
    Path("a.log").write_text(nanogpt(0, 300))
    Path("b.log").write_text(torchtitan(10, 900, start_s=0))
    for args in (["a.log", "b.log"], ["."]):
        answer = screen.answer(*args)
        assert answer["source"] == ["a.log"]
        (told,) = [each for each in answer["unknown"] if "Left out" in each]
        assert told == (
            "Left out, for a log of torchtitan is no part of one of nanoGPT: b.log. Two trainings "
            "are compared by `instride compare a.log b.log`."
        )


def test_a_reader_that_is_asked_for_reads_all_files(screen: Screen) -> None:
    Path("a.log").write_text(nanogpt(0, 300))
    Path("b.log").write_text(torchtitan(10, 900, start_s=0) + nanogpt(300, 400))
    answer = screen.answer("a.log", "b.log", "--dialect", "nanogpt")
    assert answer["source"] == ["a.log", "b.log"]
    assert observed(answer) == (0, 399, 400)


def test_an_empty_part_is_left_out_and_told(screen: Screen) -> None:
    Path("1.log").write_text(nanogpt(0, 100))
    Path("2.log").touch()
    Path("3.log").write_text(nanogpt(90, 200))
    answer = screen.answer("1.log", "2.log", "3.log")
    assert answer["source"] == ["1.log", "3.log"]
    assert "Left out, for it is empty: 2.log." in answer["unknown"]


def test_one_file_named_twice_is_read_once(screen: Screen) -> None:
    Path("train.log").write_text(nanogpt(0, 100))
    answer = screen.answer("train.log", "train.log")
    assert observed(answer) == (0, 99, 100)
    assert answer["restarts"] == []


@pytest.mark.parametrize(
    "names",
    [
        ("rank0.log", "rank1.log", "rank2.log"),
        ("train_rank_00.txt", "train_rank_01.txt", "train_rank_10.txt"),
        ("run.node0.gpu0.out", "run.node0.gpu1.out", "run.node1.gpu0.out"),
        ("job-local-rank3.log", "job-local-rank4.log", "job-local-rank11.log"),
        ("att/0/stdout.log", "att/1/stdout.log", "att/10/stdout.log"),
    ],
)
def test_ranks_of_one_run_are_read_once_and_that_is_told(
    screen: Screen, names: tuple[str, ...]
) -> None:
    for number, name in enumerate(names):
        path = Path("logs", name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(nanogpt(0, 200, ms=120.0 + number))
    paths = [f"logs/{name}" for name in names]
    for args in (["logs"], paths, paths[::-1]):
        answer = screen.answer(*args)
        assert answer["source"] == [paths[0]]
        assert observed(answer) == (0, 199, 200)
        assert answer["restarts"] == []
        (told,) = [sentence for sentence in answer["unknown"] if "Left out" in sentence]
        assert "same steps as" in told
        assert all(name in told for name in names[1:])


def test_ranks_of_each_part_are_read_once(screen: Screen) -> None:
    Path("logs").mkdir()
    for part, (first, last) in enumerate([(0, 100), (90, 200), (200, 300)]):
        for rank in range(8):
            Path(f"logs/part{part}_rank{rank}.log").write_text(
                nanogpt(first, last, ms=100.0 + rank)
            )
    answer = screen.answer("logs")
    assert answer["source"] == [f"logs/part{part}_rank0.log" for part in range(3)]
    assert len([each for each in answer["unknown"] if "and 4 more" in each]) == 3


def test_files_of_nodes_that_took_over_from_each_other_are_parts(screen: Screen) -> None:
    Path("node1.log").write_text(torchtitan(10, 900, start_s=0))
    Path("node0.log").write_text(torchtitan(10, 2000, start_s=7200))
    answer = screen.answer(".")
    assert answer["source"] == ["node1.log", "node0.log"]
    assert len(answer["restarts"]) == 1


def test_ranks_with_clocks_that_differ_a_little_are_read_once(screen: Screen) -> None:
    for rank in range(4):
        Path(f"rank{rank}.log").write_text(torchtitan(10, 900, start_s=3.0 * rank, rank=rank))
    answer = screen.answer(".")
    assert answer["source"] == ["rank0.log"]


def test_two_copies_of_one_log_are_read_once(screen: Screen) -> None:
    Path("nohup.out").write_text("nohup: ignoring input\n" + nanogpt(0, 200))
    Path("train.log").write_text(nanogpt(0, 200))
    answer = screen.answer(".")
    assert answer["source"] == ["nohup.out"]
    assert observed(answer) == (0, 199, 200)
