"""What `instride bench interference` has to tell."""

from __future__ import annotations

from instride.bench.interference.bars import bars, hurts, idle_suffices
from instride.bench.interference.names import Scenario
from instride.bench.interference.report import Report, Row
from instride.cli.render.bench_page import Figure, Page, describe_machine, show_bytes, show_s
from instride.cli.render.traces import draw

HEADS = ("beside the training", "median", "mean", "p95", "+-", "finish", "memory")
MEANINGS = (
    "median, mean, p95: of a step beside it, over the same in the pauses before and behind; +- "
    "between the quartiles of the blocks. finish: seconds at work until the file was compressed, "
    "and in brackets those of them without the training. `none again` shows the noise."
)


def page_of(report: Report) -> Page:
    return Page(
        f"Compressing beside a training: {report.scenario}",
        f"A file of {show_bytes(report.file_bytes)} beside a training that needs the "
        f"{report.scenario}; a step takes {show_s(report.base_step_s)}. "
        f"{describe_machine(report.machine)}",
        HEADS,
        [cells(row) for row in report.rows],
        notes(report),
        bars(report),
        figure=Figure("Step times beside the naive way, the nice one, and instride", draw(report)),
    )


def cells(row: Row) -> tuple[str, ...]:
    return (
        row.name,
        f"{row.median_inflation:.2f}x",
        f"{row.mean_inflation:.2f}x",
        f"{row.p95_inflation:.2f}x",
        f"{row.spread:.2f}",
        finish(row),
        show_bytes(row.peak_bytes) if row.peak_bytes else "-",
    )


def finish(row: Row) -> str:
    """How long it took, and how much of that it needed when the blocks were over."""
    if row.finish_s is None:
        return "-"
    alone = f" ({show_s(row.alone_s)})" if row.alone_s else ""
    return show_s(row.finish_s) + alone


def notes(report: Report) -> list[str]:
    """What one has to know to read the table."""
    found = [
        MEANINGS,
        f"{min(row.num_blocks for row in report.rows)} blocks a row, of {report.block_s:g} s; "
        f"{report.took_s:.0f} s in all",
    ]
    found += [f"{row.name} says: {row.said}" for row in report.rows if row.said]
    if not hurts(report):
        found.append("on this machine the naive way hardly hurts here: nothing is to be told")
    elif report.scenario is not Scenario.CPU and idle_suffices(report):
        found.append("on this machine the idle class alone protects a training from this")
    return found
