"""What `bench save` makes of a GPU: sizes, promises, and the picture of steps around a save."""

from __future__ import annotations

import io
from xml.etree import ElementTree

import msgspec
import pytest
from rich.console import Console

torch = pytest.importorskip("torch")

from instride.bench.bars import bars  # noqa: E402 - needs torch
from instride.bench.gpu_training import SIZES, size_for  # noqa: E402
from instride.bench.names import (  # noqa: E402
    NAMES,
    NOTHING_AGAIN,
    OURS,
    OURS_AT_ONCE,
    OURS_WITHOUT_ROOM,
    PAUSE,
    names_on,
)
from instride.bench.orders import Save  # noqa: E402
from instride.bench.picture import CALM, SLOW, picture_of  # noqa: E402
from instride.bench.report import Row  # noqa: E402
from instride.bench.summary import summarise  # noqa: E402
from instride.cli.render.bench import page_of  # noqa: E402
from instride.cli.render.bench_page import print_page, verdict  # noqa: E402
from tests.unit.bench.gpu_reports import WHOLE, kept, report, row  # noqa: E402

pytestmark = pytest.mark.torch


def test_the_size_nearest_to_what_was_asked_for_is_trained() -> None:
    assert [size_for(size.num_params) for size in SIZES] == list(SIZES)
    assert size_for(1_300_000_000) == SIZES[-1]
    assert size_for(1) == SIZES[0]


def test_ways_that_need_a_gpu_are_left_out_elsewhere() -> None:
    assert set(NAMES) - set(names_on("cuda")) == {OURS_AT_ONCE}
    assert set(NAMES) - set(names_on("cpu")) == {
        PAUSE, "dcp.async_save pinned", "dcp.async_save overlapped", OURS_WITHOUT_ROOM,
    }  # fmt: skip


def test_a_save_that_costs_fifteen_milliseconds_keeps_every_promise() -> None:
    made = kept(report(row(OURS, 0.009, 0.155), row(OURS_WITHOUT_ROOM, 0.009, 0.31)))
    assert len(made) == 16
    assert all(made.values())


def test_a_save_that_costs_thirty_misses_what_ten_steps_allow() -> None:
    made = kept(report(row(OURS, 0.030)))
    missed = {what for what, is_kept in made.items() if not is_kept}
    assert missed == {"cost in the first ten steps", "a later one, by 1 % of ten steps"}


def test_a_full_gpu_hides_no_more_than_forward_and_backward() -> None:
    by, first = "on a full GPU, by what a step hides", "the first save there, by the same"
    good, bad = row(OURS_WITHOUT_ROOM, 0.01, 0.32), row(OURS_WITHOUT_ROOM, 0.01, 0.34)
    prepared = {
        "later steps there, p99 by others + 2 %": True,
        "preparing there": True,
        "preparing there, by `prepare_cost_s`": True,
    }
    assert kept(report(good)) == {by: True, first: True, **prepared}
    assert kept(report(bad)) == {by: False, first: False, **prepared}
    late = msgspec.structs.replace(good, first_early_cost_s=0.47)
    assert kept(report(late)) == {by: True, first: False, **prepared}


def paced(name: str, *costs_s: float) -> Row:
    """Of a loop that only fills a queue: its first steps take no time, and its last all of it."""
    saves = [
        Save(0.0, 4.5 + cost_s, 8.0, [0.001] * 29 + [4.471 + cost_s], [0.15] * 40)
        for cost_s in costs_s
    ]
    made = summarise(name, [saves], [], hammered=WHOLE, synced=True, peak_host_bytes=None)
    return msgspec.structs.replace(made, prepare_cost_s=0.05, prepare_told_s=0.01)


def test_a_loop_that_does_not_wait_is_judged_by_all_steps_until_a_save_is_over() -> None:
    good, full = paced(OURS, 0.039, 0.014, 0.014), paced(OURS_WITHOUT_ROOM, 0.18, 0.18)
    page = page_of(report(good, full, is_synced_loop=False))
    assert "ten" not in page.heads
    assert dict(zip(page.heads, page.rows[0], strict=True))["cost 1"] == "39.0ms"
    assert any("14.0ms until it is over, the first one 39.0ms" in note for note in page.notes)
    made = kept(report(good, full, is_synced_loop=False))
    assert len(made) == 14
    assert all(made.values())
    assert not any("later steps" in text for text in [*made, *page.notes])
    slow, slow_full = paced(OURS, 0.041, 0.026, 0.026), paced(OURS_WITHOUT_ROOM, 0.2, 0.2)
    made = kept(report(slow, slow_full, is_synced_loop=False))
    assert [what for what, is_kept in made.items() if not is_kept] == [
        "cost until it is over",
        "the same for the first save",
        "a later one, by 1 % of ten steps",
        "on a full GPU, by what a step hides",
        "the first save there, by the same",
    ]


@pytest.mark.parametrize("is_synced", [True, False])
def test_the_noise_is_shown_and_no_promise_is_kept_for_it(is_synced: bool) -> None:
    ours, again = paced(OURS, 0.03, 0.03), paced(NOTHING_AGAIN, -0.1, 0.0, 0.1)
    ours = msgspec.structs.replace(ours, early_cost_s=0.03, prepare_cost_s=0.101)
    again = msgspec.structs.replace(again, early_cost_spread_s=0.02)
    found = {bar.what: bar for bar in bars(report(again, ours, is_synced_loop=is_synced))}
    cost = found["cost in the first ten steps" if is_synced else "cost until it is over"]
    noise = "20.0ms" if is_synced else "100ms"
    assert verdict(cost) == f"30.0ms +- {noise}, at most 25.0ms: missed"
    assert verdict(found["preparing"]) == "101ms +- 100ms, at most 100ms: missed"
    told = page_of(report(again, ours, is_synced_loop=is_synced)).notes
    assert any(note.startswith("+- beside a promise") for note in told)
    assert not any(note.startswith("+- beside") for note in page_of(report(ours)).notes)


AROUND_S = [0.15, 0.152] * 20


def stepping(name: str, *later_s: float) -> Row:
    """Three saves with forty calm steps behind each, and a few others behind the last."""
    steps = [[0.3, *AROUND_S], [0.3, *AROUND_S], [0.3, *AROUND_S, *later_s]]
    saves = [Save(0.0, sum(steps_s), 8.0, steps_s, AROUND_S) for steps_s in steps]
    return summarise(name, [saves], [], hammered=WHOLE, synced=True, peak_host_bytes=None)


@pytest.mark.parametrize(
    ("ours_s", "again_s", "missed"),
    [
        ([], [], []),
        ([0.1545], [], []),
        ([0.158], [], ["max"]),
        ([0.158], [0.158], []),
        ([0.158] * 3, [0.158], ["p99"]),
        ([0.158] * 3, [0.158] * 3, []),
    ],
)
@pytest.mark.parametrize(("name", "where"), [(OURS, ""), (OURS_WITHOUT_ROOM, " there")])
def test_no_later_step_is_slower_than_steps_are_without_a_save(
    name: str, where: str, ours_s: list[float], again_s: list[float], missed: list[str]
) -> None:
    others = {OURS, OURS_WITHOUT_ROOM} - {name}
    calm = [stepping(other) for other in others]
    made = kept(report(stepping(NOTHING_AGAIN, *again_s), stepping(name, *ours_s), *calm))
    later = {
        "p99": f"later steps{where}, p99 by noise + 2 %",
        "max": f"the longest of them{where}, by the same",
    }
    assert [short for short, what in later.items() if not made[what]] == missed
    told = [what for what in made if "later steps" in what or "longest of them" in what]
    assert len(told) == 4, "each has its own lines"
    assert all(made[what] for what in told if what not in later.values())


@pytest.mark.parametrize(("rested_s", "is_kept"), [(0.158, True), (0.1545, False)])
def test_what_a_rest_does_to_later_steps_is_not_taken_for_what_a_save_on_a_full_gpu_does(
    rested_s: float, is_kept: bool
) -> None:
    rested, calm = stepping(PAUSE, *[rested_s] * 3), stepping(NOTHING_AGAIN)
    made = kept(report(calm, rested, stepping(OURS), stepping(OURS_WITHOUT_ROOM, *[0.158] * 3)))
    assert made["later steps there, p99 by a pause + 2 %"] is is_kept
    assert made["the longest of them there, by the same"] is is_kept
    assert made["later steps, p99 by noise + 2 %"], "with room, nothing rests"


def test_without_a_row_that_shows_the_noise_later_steps_are_held_against_those_around() -> None:
    later = "later steps, p99 by others + 2 %"
    assert kept(report(stepping(OURS)))[later]
    assert not kept(report(stepping(OURS, 0.158, 0.158, 0.158)))[later]


def test_the_screen_of_a_gpu_fits() -> None:
    again = row(NOTHING_AGAIN, 0.0, early_cost_spread_s=0.0043, cost_spread_s=0.0123)
    ours = row(OURS, 0.0123, peak_host_bytes=16_000_000_000, prepare_cost_s=0.123)
    full = row(OURS_WITHOUT_ROOM, 0.0123, 0.333, prepare_cost_s=0.0123)
    for is_synced in (True, False):
        file = io.StringIO()
        made = report(again, ours, full, is_synced_loop=is_synced)
        print_page(page_of(made), Console(file=file, width=80))
        assert [line for line in file.getvalue().splitlines() if len(line) > 80] == []


def test_a_drift_of_all_steps_is_not_taken_for_the_cost_of_the_first() -> None:
    drifted = Save(0.01, 15.51, 8.0, [0.155] * 100, [0.15] * 40)
    assert drifted.cost_s == pytest.approx(0.51)
    assert drifted.early_cost_s == pytest.approx(0.06)


def test_the_picture_has_a_bar_for_each_step_and_marks_the_slow_ones() -> None:
    made = report(row("none", 0.0), row("a < b", 20.0), row(OURS, 0.005))
    drawn = ElementTree.fromstring(picture_of(made))
    space = "{http://www.w3.org/2000/svg}"
    texts = [element.text for element in drawn.iter(f"{space}text")]
    assert "a < b" in texts
    assert "none" not in texts
    steps = [element.get("fill") for element in drawn.iter(f"{space}rect")]
    assert steps.count(SLOW) == 1
    assert steps.count(CALM) == 2 * 40 - 1
