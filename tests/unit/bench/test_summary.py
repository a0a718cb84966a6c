"""From single saves to rows, and from rows to promises that are kept or missed."""

from __future__ import annotations

import io
from datetime import date
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.console import Console

from instride.bench.bars import bars
from instride.bench.names import FEWEST_SAVES
from instride.bench.orders import Hammered, Save
from instride.bench.report import Floors, LeftOut, Machine, Report, Row
from instride.bench.summary import summarise
from instride.cli.render.bench import page_of
from instride.cli.render.bench_page import print_page, show_bytes, show_s, write_page

COLUMNS = 80
WHOLE = Hammered(5, 5)


def save(call_s: float = 0.1, cost_s: float = 0.2, slowest_s: float = 0.5) -> Save:
    return Save(call_s, 1.5 + cost_s, 1.0, [0.5, 0.5, slowest_s], [0.5] * 6)


def row(name: str, cost_s: float, **others: Any) -> Row:
    plain = summarise(
        name, [[save(cost_s=cost_s)] * 3] * 2, [1.0], hammered=WHOLE, synced=True, peak_host_bytes=0
    )
    return msgspec.structs.replace(plain, **others)


def report(*rows: Row, **others: Any) -> Report:
    machine = Machine(2, "a processor", 16 << 30, "ext4", "Linux 6", "3.11.2", "2.13.0", 0.1)
    made = Report(1, machine, 10**9, 0.5, list(rows), Floors(0.1, 1.0), [], 0.001, 1e-6)
    return msgspec.structs.replace(made, **others)


def test_a_row_holds_medians_over_all_rounds_and_the_first_calls_apart() -> None:
    rounds = [[save(call_s=9.0), save(0.1), save(0.2)], [save(call_s=7.0), save(0.3), save(0.4)]]
    made = summarise("x", rounds, [1.0], hammered=WHOLE, synced=True, peak_host_bytes=5)
    assert made.num_saves == 6
    assert made.call_s == pytest.approx(0.35)
    assert made.first_call_s == pytest.approx(8.0)


def test_one_disturbed_save_hardly_widens_the_spread() -> None:
    calm = [save(cost_s=cost_s) for cost_s in (0.1, 0.1, 0.1, 0.1, 0.1)]
    rounds = [calm, [save(cost_s=60.0)]]
    made = summarise("x", rounds, [1.0], hammered=WHOLE, synced=True, peak_host_bytes=0)
    assert made.cost_spread_s == pytest.approx(0)
    assert made.cost_s == pytest.approx(0.1)


def test_inflation_is_by_the_steps_without_a_save_around_it() -> None:
    rounds = [
        [Save(0.1, 0.0, 1.0, [2.0] * 4, [0.5, 1.5]), Save(0.1, 0.0, 1.0, [8.0] * 4, [3.0, 5.0])]
    ]
    made = summarise("x", rounds, [1.0], hammered=WHOLE, synced=True, peak_host_bytes=0)
    assert made.p50_inflation == made.p99_inflation == 2.0
    assert made.worst_step_s == 5.0


def test_the_cost_is_the_window_less_as_many_steps_without_a_save() -> None:
    assert Save(0.1, 10.0, 1.0, [2.0] * 4, [1.0, 2.0, 3.0]).cost_s == pytest.approx(2.0)


def test_done_is_told_of_a_machine_at_rest_and_of_one_that_trains() -> None:
    made = summarise(
        "x", [[save(), save()]], [3.0, 5.0], hammered=WHOLE, synced=True, peak_host_bytes=0
    )
    assert (made.durable_s, made.durable_beside_s) == (4.0, 1.0)


def test_a_rival_that_tears_is_no_measure_of_cost() -> None:
    rivals = [row("torch.save", 2.0), row("dcp.async_save", 0.01, torn=True), row("lightning", 0.3)]
    found = {bar.what: bar for bar in bars(report(row("none", 0.0), *rivals, row("instride", 0.2)))}
    assert found["cost, by lightning + noise"].is_kept
    assert found["cost, by torch.save / 5 + noise"].limit == pytest.approx(0.4)


def test_the_noise_of_nothing_is_allowed_for() -> None:
    rows = [row("none again", 0.0, cost_spread_s=0.1), row("lightning", 0.15), row("instride", 0.2)]
    found = {bar.what: bar for bar in bars(report(*rows))}
    assert found["cost, by lightning + noise"].is_kept


@pytest.mark.parametrize(
    ("worse", "what"),
    [
        ({"call_s": 0.14}, "call, by 1.3 x memcpy + 5 ms"),
        ({"first_call_s": 0.14}, "first call, by the same"),
        ({"durable_s": 1.31}, "done, by 1.3 x direct write"),
        ({"peak_host_bytes": 10**9 + (128 << 20) + 1}, "memory, by the state + 128 MiB"),
    ],
)
def test_every_promise_can_be_missed(worse: dict[str, float], what: str) -> None:
    kept = report(row("instride", 0.2))
    assert all(bar.is_kept for bar in bars(kept))
    missed = report(row("instride", 0.2, **worse))
    assert [bar.what for bar in bars(missed) if not bar.is_kept] == [what]


def test_without_instride_nothing_is_promised() -> None:
    assert bars(report(row("torch.save", 1.0))) == []


def full_report() -> Report:
    rows = [
        row("none", 0.0, torn=None),
        row("none again", -0.0123, cost_spread_s=0.4567, torn=None),
        row("torch.save", 12.345, synced=False, worst_step_s=123.4),
        row(
            "dcp.async_save process", 1.2345, torn=True, num_whole=2, peak_host_bytes=34_567_000_000
        ),
        row("instride", 0.0345, peak_host_bytes=1_100_000_000),
    ]
    return report(*rows, left_out=[LeftOut("lightning", "`lightning` is not installed")])


def screen_of(shown: Report) -> str:
    file = io.StringIO()
    print_page(page_of(shown), Console(file=file, width=COLUMNS))
    return file.getvalue()


def test_the_screen_fits_and_says_what_does_not_count() -> None:
    screen = screen_of(full_report())
    assert [line for line in screen.splitlines() if len(line) > COLUMNS] == []
    torn = {line.split("  ")[0]: line for line in screen.splitlines() if "whole)" in line}
    assert torn["dcp.async_save process"].endswith("TORN (2 of 5 whole)")
    assert torn["instride"].endswith("no (5 of 5 whole)")
    assert screen.count("not looked at") == 2
    assert "torch.save *" in screen
    assert "A row that is does not count." in " ".join(screen.split())
    assert "left out: lightning (`lightning` is not installed)" in " ".join(screen.split())


@pytest.mark.parametrize("width", [60, 80, 100])
def test_a_table_that_is_too_wide_goes_on_below_with_the_names_in_front(width: int) -> None:
    file = io.StringIO()
    print_page(page_of(full_report()), Console(file=file, width=width))
    lines = file.getvalue().splitlines()
    heads = [line.split() for line in lines if line.split()[:1] == ["way"]]
    assert len(heads) == {60: 3, 80: 2, 100: 1}[width]
    assert [head for row in heads for head in row if head != "way"] == [
        "call", "first", "cost", "+-", "done", "beside", "worst", "memory", "torn",
    ]  # fmt: skip
    assert sum(line.startswith("torch.save *") for line in lines) == len(heads)


def test_too_few_saves_are_called_no_result() -> None:
    few = row("instride", 0.2, num_saves=FEWEST_SAVES - 1)
    told = page_of(report(few, row("none", 0.0, num_saves=2), row("torch.save", 1.0))).notes
    assert told[-1] == "too few for a result, which takes 5 saves: instride (4), none (2)"
    assert "too few for a result" not in screen_of(full_report())


def test_a_record_says_when_and_how_it_was_made(tmp_path: Path) -> None:
    page = tmp_path / "save.md"
    day = date(2026, 1, 2)
    write_page(page_of(full_report()), page, "instride bench save --rounds 3", day)
    text = page.read_text(encoding="utf-8")
    assert "2026-01-02" in text
    assert "    instride bench save --rounds 3\n" in text
    assert "| instride |" in text


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.0, "0.00us"), (4e-6, "4.00us"), (0.01234, "12.3ms"), (-0.5, "-500ms"), (123.4, "123s")],
)
def test_seconds_have_three_digits(seconds: float, shown: str) -> None:
    assert show_s(seconds) == shown


@pytest.mark.parametrize(("size", "shown"), [(12_000_000, "12MB"), (1_100_000_000, "1.10GB")])
def test_bytes_are_decimal(size: int, shown: str) -> None:
    assert show_bytes(size) == shown
