"""What is made of steps in blocks, and of a report, without running anything."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from msgspec import structs

from instride.bench.interference.bars import bars, hurts
from instride.bench.interference.blocks import Block, Steps, inflation, quantile, typical
from instride.bench.interference.names import NAIVE, STEP, STEPS, Scenario
from instride.bench.interference.report import SCHEMA, Report, Row, Trace
from instride.bench.interference.rivals import Rival
from instride.bench.report import Machine
from instride.cli.render.bench_interference import cells, notes
from instride.cli.render.traces import draw

MACHINE = Machine(2, "cpu", 1 << 34, "ext4", "Linux", "3.12", "2.9", 0.0)


def write_steps(folder: Path, plan: list[tuple[float, float]]) -> list[Block]:
    """Steps of one length for so many seconds, then of another; returns the stretches."""
    now_s, blocks, data = 0.0, [], b""
    for seconds, step_s in plan:
        start_s = now_s
        while now_s < start_s + seconds:
            now_s += step_s
            data += STEP.pack(now_s, step_s)
        blocks.append(Block(start_s, now_s))
    (folder / STEPS).write_bytes(data + b"half a st")
    return blocks


def test_each_block_is_held_against_the_rests_on_both_sides(tmp_path: Path) -> None:
    """The run itself becomes slower all the time: that is in no figure."""
    plan = [(4.0, 0.1), (4.0, 0.22), (4.0, 0.12), (4.0, 0.26), (4.0, 0.14)]
    blocks = write_steps(tmp_path, plan)
    found = inflation(Steps(tmp_path), blocks[1::2], blocks[::2])
    assert found is not None
    assert found.median == pytest.approx(2.0)
    assert found.mean == pytest.approx(2.0)
    assert found.spread == pytest.approx(0.0, abs=1e-9)
    assert found.p95 == pytest.approx(0.26 / 0.14)


def test_a_block_without_a_step_says_nothing(tmp_path: Path) -> None:
    blocks = write_steps(tmp_path, [(4.0, 0.1), (4.0, 0.2), (4.0, 0.1)])
    empty = Block(100.0, 101.0)
    assert inflation(Steps(tmp_path), [empty], blocks[::2]) is None


def test_a_trace_shows_the_steps_before_its_block_and_of_as_much_as_all_rows_have(
    tmp_path: Path,
) -> None:
    blocks = write_steps(tmp_path, [(4.0, 0.1), (4.0, 0.2), (4.0, 0.1)])
    trace = Steps(tmp_path).trace("naive", blocks[1], rest_s=1.0, work_s=3.0)
    assert trace.at_s[0] == pytest.approx(-1.0, abs=0.11)
    assert trace.at_s[-1] == pytest.approx(3.0, abs=0.21)
    assert set(trace.step_s) == {0.1, 0.2}


def test_the_block_that_is_drawn_is_neither_the_best_nor_the_worst(tmp_path: Path) -> None:
    plan = [(2.0, 0.1), (2.0, 0.1), (2.0, 0.1), (2.0, 0.2), (2.0, 0.1), (2.0, 0.5), (2.0, 0.1)]
    blocks = write_steps(tmp_path, plan)
    assert typical(Steps(tmp_path), blocks[1::2], blocks[::2]) == blocks[3]


def test_quantiles_lie_between_the_nearest_values() -> None:
    assert quantile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert quantile([0.0, 10.0], 0.95) == pytest.approx(9.5)
    assert quantile([7.0], 0.25) == 7.0


def row(name: str, inflation: float, spread: float = 0.02, peak_bytes: int = 0) -> Row:
    return Row(name, 10, inflation, inflation, inflation, spread, None, None, peak_bytes, None)


def report(*rows: Row, scenario: Scenario = Scenario.CPU) -> Report:
    traces = [Trace("naive", [-1.0, 0.5, 1.0], [0.1, 0.3, 0.1]), Trace("instride", [0.0], [0.1])]
    return Report(SCHEMA, MACHINE, scenario, 1 << 30, 2.5, 0.1, 400.0, list(rows), traces)


@pytest.mark.parametrize(
    ("measured", "scenario", "is_kept"),
    [
        (1.04, Scenario.CPU, True),
        (1.06, Scenario.CPU, False),
        (1.06, Scenario.DISK, True),
        (1.08, Scenario.DISK, False),
    ],
)
def test_the_promise_counts_the_noise_and_elsewhere_the_budget(
    measured: float, scenario: Scenario, is_kept: bool
) -> None:
    found = report(
        row("none", 1.0), row("naive", 3.0), row("instride", measured), scenario=scenario
    )
    assert bars(found)[0].is_kept == is_kept


def test_a_scenario_that_does_not_hurt_is_said_to_show_nothing() -> None:
    assert hurts(report(row("naive", 3.0)))
    assert not hurts(report(row("naive", 1.02)))


@pytest.mark.parametrize(("idle", "is_said"), [(1.01, True), (1.06, False)])
def test_where_the_idle_class_suffices_that_is_said(idle: float, is_said: bool) -> None:
    rows = row("none", 1.0), row("naive", 3.0), row("idle only", idle)
    for scenario in (Scenario.DISK, Scenario.MEMORY):
        assert ("idle class alone" in " ".join(notes(report(*rows, scenario=scenario)))) is is_said
    assert "idle class alone" not in " ".join(notes(report(*rows)))


@pytest.mark.parametrize(
    ("finish_s", "alone_s", "shown"),
    [(None, None, "-"), (5.0, 0.0, "5.00s"), (40.0, 12.0, "40.0s (12.0s)")],
)
def test_what_was_done_without_the_training_is_told_apart(
    finish_s: float | None, alone_s: float | None, shown: str
) -> None:
    found = structs.replace(row("instride", 1.0), finish_s=finish_s, alone_s=alone_s)
    assert cells(found)[5] == shown


def test_the_agents_memory_is_held_against_its_limit() -> None:
    kept, missed = (
        bars(report(row("instride", 1.0, peak_bytes=peak)))[-1].is_kept
        for peak in (200 << 20, 300 << 20)
    )
    assert (kept, missed) == (True, False)


def test_the_picture_is_whole_xml_with_a_line_for_each_trace() -> None:
    tree = ET.fromstring(draw(report(row("naive", 3.0))))
    lines = tree.findall("{http://www.w3.org/2000/svg}polyline")
    assert [len(line.attrib["points"].split()) for line in lines] == [6, 2]
    text = "".join(tree.itertext())
    assert "naive: 3.00x" in text
    assert "compressing beside it" in text


def test_a_rival_that_ends_with_an_error_says_nothing_about_interference(tmp_path: Path) -> None:
    rival = Rival(NAIVE, tmp_path / "missing" / "step_1.pt", tmp_path / "train.log")
    (tmp_path / "missing").mkdir()
    rival.resume()
    rival.await_done(60)
    rival.end()
    assert rival.failed is not None
    assert "ended with status" in rival.failed
