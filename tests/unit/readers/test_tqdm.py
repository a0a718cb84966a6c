"""Any tqdm bar: which one is the training, its epochs, restarts and ranks."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from instride.steps.model import EventKind
from instride.steps.notes import Note
from instride.steps.readers.tqdm import Tqdm
from instride.steps.reading import read_with
from instride.steps.source import Source
from tests.unit.readers.drawing import draw
from tests.unit.readers.reading import events
from tests.unit.readers.tqdm_bars import epoch, read


def test_steps_have_the_clock_of_their_first_drawing() -> None:
    lines = ["starting", draw(0, 100, 0), draw(1, 100, 28), draw(1, 100, 30), draw(2, 100, 31)]
    run = read(lines)
    assert list(run.step) == [1, 2]
    assert list(run.wall) == [28.0, 31.0]
    assert list(run.line) == [3, 5]
    assert all(seconds != seconds for seconds in run.seconds)
    assert run.first_clock is not None
    assert (run.first_clock.wall, run.first_clock.line) == (0.0, 2)
    assert (run.clock_is_absolute, run.clock_resolution_s) == (False, 1.0)


def test_drawings_in_one_line_share_its_number() -> None:
    run = read(["noise", "\r".join(draw(n, 10, 2 * n) for n in range(4)), draw(4, 10, 8)])
    assert list(run.line) == [2, 2, 2, 3]
    assert list(run.step) == [1, 2, 3, 4]


def test_a_log_that_begins_in_the_middle_keeps_its_first_step() -> None:
    run = read([draw(n, 5000, 3600 + n) for n in range(1700, 1705)])
    assert list(run.step) == [1700, 1701, 1702, 1703, 1704]
    assert run.first_clock is None


def test_the_last_redrawing_tells_of_closing_work() -> None:
    run = read([*epoch(10, 2), draw(10, 10, 305, "train"), "Done."])
    assert [(end.wall, end.line, end.at) for end in run.ends] == [(305.0, 22, 10)]
    assert list(run.wall)[-1] == 20.0


def test_a_redrawing_before_the_next_step_is_no_closing_work() -> None:
    run = read([draw(n, 10, 2 * n + redrawn) for n in range(5) for redrawn in (0, 1)])
    assert list(run.wall) == [2.0, 4.0, 6.0, 8.0]
    assert [end.wall for end in run.ends] == [9.0]


def test_fast_steps_that_are_not_drawn_leave_gaps() -> None:
    run = read([draw(n, 1000, n / 100) for n in range(0, 1001, 14)])
    assert list(run.step)[:3] == [14, 28, 42]
    assert len(run) == 71


def test_bars_that_prepare_are_not_the_training() -> None:
    lines = [draw(n, 51760, n / 10, "Packing dataset") for n in range(0, 51760, 60)]
    lines += [draw(n, 900, n, "model.bin", "MB") for n in range(900)]
    lines += [draw(n, None, n, "Generating train split", " examples") for n in range(900)]
    lines += epoch(20, 3, "")
    run = read(lines)
    assert list(run.step) == list(range(1, 21))
    assert list(run.wall)[-1] == 60.0


def test_only_bars_that_prepare_are_no_training() -> None:
    lines = [draw(n, 100, n, "Packing dataset") for n in range(101)]
    assert len(read(lines)) == 0
    assert not any(Tqdm.sniff(line) for line in lines)
    assert Tqdm.sniff(draw(3, 100, 5))


def test_a_bar_that_speaks_of_training_is_preferred_to_a_longer_one() -> None:
    lines = []
    for n in range(50):
        lines += [draw(n, 50, 5 * n, "worker"), draw(n, 40, 4 * n, "loss 2.1")][
            : 2 if n < 41 else 1
        ]
    run = read(lines)
    assert list(run.step)[-1] == 40
    assert run.notes == [Note("several-bars", {"name": "loss 2.1"})]


@pytest.mark.parametrize(
    "mangled",
    [
        "00/1000 [01:30<00:10, 1.0s/it]",
        " 4%|4         | 944/1000 [01:30<00:10, 1.0s/it]",
        " 4%|4         | 44/1000 [11:01:30<00:10, 1.0s/it]",
        " 4%|4         | 4444/1000 [01:30<00:10, 1.0s/it]",
        " 4%|4         | 44/1000 [01:3",
        "4%|4         | 44/10",
        "\ufffd\ufffd| /1000 [01:30<00:10, 1.0s/it]",
    ],
)
def test_a_mangled_drawing_does_not_end_the_bar(mangled: str) -> None:
    lines = [draw(n, 1000, 2 * n) for n in range(80)]
    run = read([*lines[:44], mangled, *lines[45:]])
    assert set(run.step) >= set(range(1, 80)) - {44}
    assert len(run) in (78, 79)
    assert list(run.wall) == sorted(run.wall)
    assert max(run.wall) == 158.0
    assert events(run) == []


def test_a_description_that_is_set_later_names_the_same_bar() -> None:
    lines = [draw(0, 50, 0), draw(1, 50, 9), draw(1, 50, 9, "loss 3.1")]
    lines += [draw(n, 50, 8 + n, f"loss {3 - n / 50}") for n in range(2, 51)]
    run = read(lines)
    assert list(run.step) == list(range(1, 51))
    assert run.line[0] == 2
    assert run.first_clock is not None


def test_timestamps_in_front_of_every_drawing_are_the_clock() -> None:
    lines = [f"2026-01-01T00:{n:02}:00.250Z {draw(n, 50, 60 * n - n % 3)}" for n in range(11)]
    lines.append(f"2026-01-01T00:30:00Z {draw(10, 50, 1800)}")
    run = read(lines)
    assert run.clock_is_absolute
    assert run.clock_resolution_s == 0.0
    assert [wall - run.wall[0] for wall in run.wall] == [60.0 * n for n in range(10)]
    assert [end.wall - run.wall[0] for end in run.ends] == [1739.75]


def test_a_timestamp_in_front_of_a_line_of_many_drawings_is_not_the_clock() -> None:
    drawn = "\r".join(draw(n, 50, 60 * n) for n in range(11))
    run = read([f"2026-01-01T00:00:00Z {drawn}"])
    assert not run.clock_is_absolute
    assert list(run.wall) == [60.0 * n for n in range(1, 11)]


def test_counts_in_thousands_keep_three_digits() -> None:
    lines = [
        f"{n / 1000:.2f}kit [{n // 60:02}:{n % 60:02}, 1.00it/s]" for n in range(1000, 1100, 10)
    ]
    run = read(lines)
    assert list(run.step) == list(range(1000, 1100, 10))


def test_lines_between_two_drawings_mark_what_happens() -> None:
    lines = epoch(20, 3)
    saved = ["Saving checkpoint to out/10.pt", "Saved checkpoint out/10.pt in 12.5 s"]
    run = read([*lines[:21], *saved, *lines[21:], "Starting training"])
    assert events(run) == [(EventKind.SAVE, 10, 12.5)]


def test_a_number_in_a_bar_marks_nothing() -> None:
    run = read(
        [draw(n, 20, 3 * n, "train", more="val_loss=2.1, saved=model.pt") for n in range(21)]
    )
    assert events(run) == []


@settings(max_examples=150, deadline=None)
@given(
    processes=st.lists(
        st.tuples(
            st.integers(0, 60),
            st.lists(st.integers(1, 9), min_size=1, max_size=30),
            st.integers(0, 2),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_every_process_is_read_whatever_its_speed(
    processes: list[tuple[int, list[int], int]],
) -> None:
    """Each resumes somewhere, takes some seconds for each step, and redraws every step."""
    lines, steps, walls = [], [], []
    for resumed_at, seconds, num_redrawn in processes:
        lines.append(draw(0, 100, 0))
        for n, elapsed_s in enumerate(accumulate(seconds, initial=1), resumed_at + 1):
            lines += [draw(n, 100, elapsed_s)] * (1 + num_redrawn)
            steps.append(n)
            walls.append(float(elapsed_s))
    run = read(lines)
    assert list(run.step) == steps
    assert list(run.wall) == walls
    assert [kind for kind, _, _ in events(run)] == [EventKind.START] * (len(processes) - 1)


def test_many_different_bars_do_not_fill_the_memory() -> None:
    letters = "abcdfghijklmnopqrstuvwxyz"
    lines = [draw(1, 2, 1, a + b + c) for a in letters for b in letters for c in letters]
    assert len(read(lines[:9000])) <= 1


def test_other_bars_in_a_real_log_are_not_the_training(cases: Path) -> None:
    run = read_with(Tqdm, [Source(str(cases / "torchtune-tqdm.out"))])
    assert list(run.step) == list(range(1, 513))
    assert (run.wall[0], run.wall[-1]) == (28.0, 379.0)
    assert [end.wall for end in run.ends] == [664.0]


def test_a_bar_that_runs_beyond_its_total_is_one_bar() -> None:
    lines: list[str] = []
    for number in (1, 2):
        name = f"Epoch {number}"
        lines += [draw(n, 14, 10 * n, name) for n in range(15)]
        lines += [draw(n, None, 10 * n, name) for n in range(15, 20)]
    run = read(lines)
    assert list(run.step) == list(range(1, 39))
    assert run.wall[-1] == 380.0
    assert [kind for kind, *_ in events(run)] == ["epoch"]


def test_a_count_without_a_total_that_does_not_go_on_is_another_bar() -> None:
    lines = [draw(n, 14, 10 * n, "train") for n in range(15)]
    lines += [draw(n, None, 140 + n, "train") for n in range(100, 104)]
    assert list(read(lines).step) == [100, 101, 102, 103]


def test_a_bar_that_loads_the_data_beforehand_is_no_training() -> None:
    lines = [draw(n, 500, n, "Preloading the dataset") for n in range(500)]
    assert not any(Tqdm.sniff(line) for line in lines)
