"""What `instride bench save` has to tell."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC
from typing import NamedTuple

from instride.bench.bars import LEAST_STATE_BYTES, bars
from instride.bench.names import FEWEST_SAVES, OURS, saves_nothing
from instride.bench.report import Report, Row
from instride.cli.render.bench_page import Page, describe_machine, show_bytes, show_s
from instride.cli.render.bench_trips import often_note, round_trip_notes

MEANINGS = (
    "call, first: what `save` takes, and the first of a process. cost: what training pays, from "
    "the call until nothing of it goes on, less as many steps without a save around it; +- between "
    "the quartiles. done: until the way says so, while nobody trains; beside: while every core "
    "trains. worst: the longest step behind a save. memory: above `none`. Medians; `none again` "
    "shows the noise."
)
MEANINGS_ON_A_GPU = (
    "call: what `save` takes. ten: what the call and the ten steps from it on cost, less as many "
    "steps without a save around them; cost: the same until nothing of it goes on. done: until the "
    "way says so, beside training. 1: of the first save of a process, which the medians of ten "
    "leave out. memory: of the host, above `none`."
)
MEANINGS_WITHOUT_SYNC = (
    "call: what `save` takes. cost: what all steps from the call on cost until nothing of it goes "
    "on, less as many steps without a save around them. done: until the way says so, beside "
    "training. 1: of the first save of a process, which the medians of cost leave out. memory: of "
    "the host, above `none`."
)
NOISE = (
    "+- beside a promise: how far apart windows of `none again` are, between the quartiles. No "
    "promise is kept for it."
)
LATER = (
    "later steps: those from the second one behind a save on, beyond the mean of the others around "
    "it; noise: the same steps of `none again`; a pause: those of `none with a pause`."
)
TORN = (
    "torn: whether a snapshot held something else than the moment of its call, when everything was "
    "overwritten behind it. A row that is does not count."
)
UNSYNCED = "*"
NOT_FSYNCED = "not fsynced: done means that it is in memory, and on the disk some time later."


def page_of(report: Report) -> Page:
    columns = _layout(report).columns
    return Page(
        "Ways of saving",
        f"State of {show_bytes(report.state_bytes)}, a step takes {show_s(report.base_step_s)}. "
        f"{describe_machine(report.machine)}{_when(report)}",
        ("way", *(column.head for column in columns)),
        [_cells(row, columns) for row in report.rows],
        notes(report),
        bars(report),
    )


def _when(report: Report) -> str:
    """Where it was not this command alone that measured."""
    if (goes := report.goes) is None:
        return ""
    times = "one go" if goes.num_goes == 1 else f"{goes.num_goes} goes"
    first, last = (f"{when.astimezone(UTC):%Y-%m-%d %H:%M}" for when in (goes.first, goes.last))
    return f" Measured in {times}, from {first} to {last} UTC."


class Column(NamedTuple):
    head: str
    show: Callable[[Row], str]


class Layout(NamedTuple):
    columns: list[Column]
    meanings: str


def _layout(report: Report) -> Layout:
    if report.device == "cpu":
        return Layout(COLUMNS, MEANINGS)
    if report.is_synced_loop:
        return Layout(COLUMNS_ON_A_GPU, MEANINGS_ON_A_GPU)
    return Layout(COLUMNS_WITHOUT_SYNC, MEANINGS_WITHOUT_SYNC)


def _cells(row: Row, columns: list[Column]) -> tuple[str, ...]:
    mark = UNSYNCED * (not row.synced and not saves_nothing(row.name))
    return (f"{row.name} {mark}".strip(), *(column.show(row) for column in columns))


def _torn(row: Row) -> str:
    if row.torn is None:
        return "not looked at"
    return f"{'TORN' if row.torn else 'no'} ({row.num_whole} of {row.num_hammered} whole)"


def _memory(row: Row) -> str:
    return "-" if row.peak_host_bytes is None else show_bytes(row.peak_host_bytes)


COLUMNS = [
    Column("call", lambda row: show_s(row.call_s)),
    Column("first", lambda row: show_s(row.first_call_s)),
    Column("cost", lambda row: show_s(row.cost_s)),
    Column("+-", lambda row: show_s(row.cost_spread_s)),
    Column("done", lambda row: show_s(row.durable_s)),
    Column("beside", lambda row: show_s(row.durable_beside_s)),
    Column("worst", lambda row: show_s(row.worst_step_s)),
    Column("memory", _memory),
    Column("torn", _torn),
]
CALLS = [
    Column("call", lambda row: show_s(row.call_s)),
    Column("call 1", lambda row: show_s(row.first_call_s)),
]
RESULTS = [
    Column("done", lambda row: show_s(row.durable_s)),
    Column("done 1", lambda row: show_s(row.first_durable_s)),
    Column("memory", _memory),
    Column("torn", _torn),
]
COLUMNS_ON_A_GPU = [
    *CALLS,
    Column("ten", lambda row: show_s(row.early_cost_s)),
    Column("ten 1", lambda row: show_s(row.first_early_cost_s)),
    Column("cost", lambda row: show_s(row.cost_s)),
    *RESULTS,
]
COLUMNS_WITHOUT_SYNC = [
    *CALLS,
    Column("cost", lambda row: show_s(row.later_cost_s)),
    Column("cost 1", lambda row: show_s(row.first_cost_s)),
    *RESULTS,
]


def notes(report: Report) -> list[str]:
    """What one has to know to read the table."""
    floors = report.floors
    found = [
        f"floors: copying the state in memory {show_s(floors.memcpy_s)}"
        + (
            f", writing it directly {show_s(floors.direct_write_s)}"
            if floors.direct_write_s
            else ""
        ),
        *_device_notes(report),
        _layout(report).meanings,
        TORN,
    ]
    if any(not row.synced and not saves_nothing(row.name) for row in report.rows):
        found.append(f"{UNSYNCED} {NOT_FSYNCED}")
    found += [f"left out: {each.name} ({each.why})" for each in report.left_out]
    if any(bar.noise is not None for bar in bars(report)):
        found.append(NOISE)
    if any("later steps" in bar.what for bar in bars(report)):
        found.append(LATER)
    if bars(report) and report.state_bytes < LEAST_STATE_BYTES:
        found.append("the promises are for a state of 1 GB or more; this one is too small to tell")
    if too_few := [row for row in report.rows if row.num_saves < FEWEST_SAVES]:
        found.append(f"too few for a result, which takes {FEWEST_SAVES} saves: {_counted(too_few)}")
    return found


def _counted(rows: list[Row]) -> str:
    """Which rows have how many saves; one number for all, where it is the same."""
    numbers = {row.num_saves for row in rows}
    if len(numbers) == 1:
        return f"{', '.join(row.name for row in rows)} ({numbers.pop()} each)"
    return ", ".join(f"{row.name} ({row.num_saves})" for row in rows)


def _device_notes(report: Report) -> list[str]:
    floors = report.device_floors
    if floors is None:
        return []
    found = [
        f"floors of the GPU: copying the state inside it {show_s(floors.copy_s)}, over the bus "
        f"{show_s(floors.bus_s)}",
        "the loop waits for the GPU after every step"
        if report.is_synced_loop
        else "the loop does not wait for the GPU after a step: single steps tell nothing",
    ]
    ours = next((row for row in report.rows if row.name == OURS), None)
    if ours is None:
        return found
    told = [
        f"a save costs {show_s(ours.early_cost_s)} in the first ten steps, the first one "
        f"{show_s(ours.first_early_cost_s)}"
        if report.is_synced_loop
        else f"a save costs {show_s(ours.later_cost_s)} until it is over, the first one "
        f"{show_s(ours.first_cost_s)}"
    ]
    if ours.prepare_cost_s is not None:
        told.append(f"preparing costs {show_s(ours.prepare_cost_s)} in all")
    if ours.making_s is not None:
        told.append(f"making a Saver takes {show_s(ours.making_s)}, before any step")
    found.append(f"{OURS}: {'; '.join(told)}")
    if report.round_trip is not None:
        found += round_trip_notes(report.round_trip)
    if report.often is not None:
        found.append(often_note(report.often))
    return found
