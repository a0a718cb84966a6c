"""What the processes of `bench save` are told to do, and what a failed one of them costs."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

torch = pytest.importorskip("torch")

from instride.bench import saving  # noqa: E402 - needs torch
from instride.bench.bars import bars  # noqa: E402
from instride.bench.names import (  # noqa: E402
    NOTHING,
    NOTHING_AGAIN,
    OURS,
    OURS_WITHOUT_ROOM,
    PAUSE,
    is_rival,
    names_on,
)
from instride.bench.ordering import Request, order_for  # noqa: E402
from instride.bench.orders import (  # noqa: E402
    Order,
    Task,
)
from instride.bench.report import (  # noqa: E402
    Report,
)
from instride.cli.render.bench import page_of  # noqa: E402
from instride.cli.render.bench_page import verdict  # noqa: E402
from tests.unit.bench.faked import Faked  # noqa: E402

pytestmark = pytest.mark.torch
WAYS = [NOTHING, "torch.save", OURS, OURS_WITHOUT_ROOM]


def ordered(request: Request, way: str, *windows: int) -> Order:
    return order_for(request, Path("/somewhere"), Task.TIME, way, windows)


def test_on_a_gpu_rivals_save_less_often_than_we_do() -> None:
    request = Request(WAYS, device="cuda", num_saves=5)
    assert [ordered(request, way).num_saves for way in WAYS] == [5, 2, 5, 5]
    assert ordered(Request(WAYS, num_saves=5), "torch.save").num_saves == 5


def test_what_shows_the_noise_has_windows_as_long_as_ours() -> None:
    request = Request(WAYS)
    assert ordered(request, NOTHING_AGAIN, 100, 120, 140).num_rest_steps == 120
    assert ordered(request, PAUSE, 100, 120, 140).num_rest_steps == 120
    assert ordered(request, NOTHING_AGAIN).num_rest_steps == 20
    assert ordered(request, NOTHING, 100).num_rest_steps == 20
    assert ordered(Request(WAYS, device="cuda"), NOTHING_AGAIN, 80, 90).num_rest_steps == 85


def run_on_a_gpu(
    monkeypatch: pytest.MonkeyPatch, folder: Path, *failing: Task, told: list[str] | None = None
) -> Report:
    """All of it but the processes, some of which fail."""
    Faked(monkeypatch).failing = failing
    request = Request(WAYS, device="cuda", num_rounds=1, folder=str(folder), watches_memory=False)
    return saving.run(request, ([] if told is None else told).append)


def test_a_whole_run_on_a_gpu_tells_of_every_promise(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    report = run_on_a_gpu(monkeypatch, tmp_path)
    assert report.left_out == []
    assert {row.name: row.prepare_cost_s for row in report.rows} == {
        NOTHING: None, "torch.save": None, OURS: 0.05, OURS_WITHOUT_ROOM: 0.05,
    }  # fmt: skip
    assert report.forward_and_backward_s == 0.14
    assert len(bars(report)) == 16
    assert all(bar.is_kept for bar in bars(report))
    told = page_of(report).notes
    assert any(
        "restored in 4.70s, 4.80s, in turn with bare reading in 4.60s, 4.50s" in note
        for note in told
    )
    assert any("each costs 0.40 %, 0.70 %, 0.60 % of them" in note for note in told)
    assert any("17 saved, 1 skipped" in note for note in told)
    assert any("`prepare_cost_s` said 5.00ms" in note for note in told)
    assert [note for note in told if note.startswith("the governor")] == [
        "the governor in the first save of Saver 1, 8.30s: from 80.0ms on 1 thread for 50 % of "
        "the time, at most 32MB/s (unknown-yet); from 1.20s on 8 threads for 93 % of the time "
        "(plenty)",
        "the governor in the next save of Saver 1, 8.20s: at first 8 threads for 93 % of the "
        "time (plenty)",
    ]
    assert any("making a Saver takes 400ms" in note for note in told)
    assert told[-1] == (
        "too few for a result, which takes 5 saves: none, torch.save, instride, instride full GPU "
        "(4 each)"
    )


def test_rows_of_few_saves_are_named_also_those_of_rivals(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    report = run_on_a_gpu(monkeypatch, tmp_path)
    rows = [
        msgspec.structs.replace(row, num_saves=2 if is_rival(row.name) else 5)
        for row in report.rows
    ]
    told = page_of(msgspec.structs.replace(report, rows=rows)).notes
    assert told[-1] == "too few for a result, which takes 5 saves: torch.save (2 each)"
    rows = [msgspec.structs.replace(row, num_saves=5) for row in rows]
    told = page_of(msgspec.structs.replace(report, rows=rows)).notes
    assert not any("too few for a result" in note for note in told)


def test_all_ways_of_a_gpu_are_rows_with_what_tore_and_what_memory_they_took(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    Faked(monkeypatch)
    report = saving.run(Request(names_on("cuda"), device="cuda", folder=str(tmp_path)))
    page = page_of(report)
    shown = {cells[0]: dict(zip(page.heads, cells, strict=True)) for cells in page.rows}
    told = {row["name"]: row for row in msgspec.to_builtins(report)["rows"]}
    assert list(shown) == list(told) == names_on("cuda")
    assert {NOTHING, NOTHING_AGAIN} < told.keys()
    for name, row in told.items():
        is_seen = name not in (NOTHING, NOTHING_AGAIN, PAUSE)
        assert row["torn"] is (False if is_seen else None)
        assert (row["num_whole"], row["num_hammered"]) == ((5, 5) if is_seen else (0, 0))
        assert (row["peak_host_bytes"], row["num_saves"]) == (0, 8)
        assert shown[name]["torn"] == ("no (5 of 5 whole)" if is_seen else "not looked at")
        assert shown[name]["memory"] == "0MB"


def test_what_fails_at_the_end_leaves_what_was_measured_before(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    late = (Task.PREPARE, Task.ROUND_TRIP, Task.OFTEN, Task.UPKEEP)
    told: list[str] = []
    report = run_on_a_gpu(monkeypatch, tmp_path, *late, told=told)
    assert len(report.rows) == len(WAYS)
    assert report.round_trip is None
    assert report.often is None
    assert len(report.left_out) == 5
    assert [line for line in told if "is left out" in line] == [
        f"{each.name} is left out: {each.why}" for each in report.left_out
    ]
    assert {
        bar.what.partition(",")[0]: verdict(bar) for bar in bars(report) if not bar.is_kept
    } == {
        "preparing": "could not be measured, at most 100ms",
        "preparing there": "could not be measured, at most 100ms",
        "a save every ten steps": "could not be measured, at most 1.00 %",
        "done": "could not be measured, at most 1.150x",
        "the first save done": "could not be measured, at most 1.150x",
        "restored": "could not be measured, at most 1.150x",
        "a step after that": "could not be measured, at most 2.00 %",
    }
    assert any(f"left out: {OURS}: there and back" in note for note in page_of(report).notes)
