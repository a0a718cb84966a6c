"""Logs with bars whose training stands between them, on lines of an unknown trainer."""

from __future__ import annotations

from pathlib import Path

from instride.steps.choosing import choose_reader
from instride.steps.source import Source
from tests.unit.readers.drawing import draw


def dialect(path: Path, lines: list[str]) -> str:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return choose_reader([Source(str(path))], None, []).dialect.name


def records(epoch: int, count: int = 4) -> list[str]:
    return [
        f"Epoch {epoch}[{10 * n}/100]: loss:0.71, lr:0.001, batch time:0.3100"
        for n in range(1, count + 1)
    ]


def test_a_bar_of_evaluations_alone_is_not_the_training(tmp_path: Path) -> None:
    lines: list[str] = []
    for epoch in range(1, 9):
        lines += [*records(epoch), "Test", *(draw(n, 310, n / 10) for n in (0, 150, 310))]
    assert dialect(tmp_path / "log", lines) == "guess"


def test_a_bar_around_the_lines_is_the_training(tmp_path: Path) -> None:
    lines: list[str] = []
    for epoch in range(1, 9):
        for n, line in enumerate(records(epoch), 1):
            lines += [draw(10 * n, 100, 3 * n), line]
    assert dialect(tmp_path / "log", lines) == "tqdm"


def test_one_line_at_the_end_of_every_bar_sums_it_up(tmp_path: Path) -> None:
    lines: list[str] = []
    for epoch in range(1, 9):
        lines += [*(draw(n, 100, 3 * n) for n in range(101)), f"Epoch {epoch} loss: 0.5 time: 30 s"]
    assert dialect(tmp_path / "log", lines) == "tqdm"


def test_a_bar_named_after_the_training_is_the_training(tmp_path: Path) -> None:
    lines: list[str] = []
    for epoch in range(1, 9):
        lines += [*records(epoch), *(draw(n, 310, n / 10, "train") for n in (0, 150, 310))]
    assert dialect(tmp_path / "log", lines) == "tqdm"


def test_bars_that_never_move_leave_the_lines_to_the_guess(tmp_path: Path) -> None:
    lines = [
        f"Validation: |          | 0/? [00:00<?, ?it/s][2026-01-02 03:{minute:02}:00] INFO "
        f"Epoch {minute}: loss 0.5  v_loss 0.6"
        for minute in range(40)
    ]
    assert dialect(tmp_path / "log", lines) == "guess"
