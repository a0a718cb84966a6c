"""What `instride agent` puts on a screen or into a log, and `agent status` on the screen."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console
from rich.progress import Progress, TextColumn

from instride.agent.status import SCHEMA, CostEntry, Live, Status, Totals
from instride.agent.telling import Progress as Done
from instride.agent.telling import saved_text
from instride.cli.render.agent import LogLines, Screen, print_status

COST = CostEntry(0.008, 0.003, 41.0, "cost training 0.8 % \u00b1 0.3 for 41 s")
LIVE = Live(
    host="node7", pid=4711, started=1, since_s=0.0, updated_s=0.0, doing="compressing",
    file="step_2000.pt", done_bytes=61, total_bytes=100, why="", pattern="*.pt", format="zstd",
    keep=None, removes_original=False, others_prune=False, cost=COST,
)  # fmt: skip


def status(totals: Totals, now: Live | None = LIVE) -> str:
    console = Console(file=io.StringIO(), width=100)
    print_status(
        Status(SCHEMA, "checkpoints", None, now, totals, totals.saved_bytes, [], None), console
    )
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_status_says_in_one_line_what_it_cost_and_saved() -> None:
    text = status(Totals(2, 4_000_000_000, 900_000_000))
    assert "compressed 2: 4.0 GB to 900 MB\n" in text
    assert "\ncost training 0.8 % \u00b1 0.3 for 41 s, saved 3.1 GB\n" in text
    assert "deleted" not in text


def test_status_of_one_that_has_just_begun_has_no_zeros() -> None:
    text = status(Totals(), None)
    assert "nothing was compressed yet" in text
    assert "0 B" not in text


@pytest.mark.parametrize(
    ("width", "note"),
    [
        (140, "steps take 0.9 % longer while it works, with a budget of 2 %"),
        (100, "steps take 0.9 % longer while..."),
        (80, ""),
    ],
)
def test_beside_the_bar_there_is_as_much_as_fits(width: int, note: str) -> None:
    console = Console(file=io.StringIO(), width=width, force_terminal=True)
    bar = Progress(TextColumn(""), console=console)
    screen = Screen(console, bar)
    screen.progress(
        Done("step_2000.pt", 1, 2, "steps take 0.9 % longer while it works, with a budget of 2 %")
    )
    assert bar.tasks[0].fields["note"] == note


def test_a_log_that_has_only_plain_letters_gets_plain_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    plain: Any = io.TextIOWrapper(raw, encoding="ascii")
    monkeypatch.setattr("sys.stdout", plain)
    monkeypatch.setenv("JOURNAL_STREAM", "8:1")
    LogLines().line(COST.text)
    assert raw.getvalue() == b"cost training 0.8 % +- 0.3 for 41 s\n"


def test_what_became_larger_saved_nothing() -> None:
    assert saved_text(-35_500) == "saved nothing, 35.5 kB more"
    assert saved_text(3_100_000_000) == "saved 3.1 GB"
